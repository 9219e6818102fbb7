# What text shows of each view's columns, which JSON does not say.
$ for name in train nosteps python ranks empty names places one_place samples samples_alone loader memory heap engine layers device device_nosteps device_train figures_named values flops calls sequence profiles lightning reduced recorders verdict_idle; do trace $name; done; list_columns *.dwell
overview: run
  is: only sentences
  wall_ns                    wall                   int, ns
  records                    records                int, count
  ranges                     ranges                 int, count
  cost_share                 profiling              real, ratio
  steps                      steps                  int, count
  steps_recorded             steps recorded         int, count
  steps_ns                   in steps               int, ns
  loops_ns                   loops                  int, ns
  mean_ns                    a step                 int, ns
  p50_ns                     p50                    int, ns
  p95_ns                     p95                    int, ns
  p99_ns                     p99                    int, ns
  slowest_step               slowest step           int
  slowest_ns                 slowest                int, ns
  verdict                    verdict                text
  verdict_share              its share              real, ratio
overview: breakdown
  name                       a step, mean of 2 processes text
  is: only sentences
  name                       a step                 text
  per_step_ns                                       real, ns, one unit
  share                      of the loop            real, ratio, bar
  totals: all
overview: operators
  name                       operators by self time text
  calls                      calls                  int, count
  self_ns                    self                   int, ns
  share                      of wall                real, ratio
  calls_per_step             calls/step             real, count
  self_per_step_ns           self/step              real, ns
  share                      of the loop            real, ratio
  p99_ns                     p99                    int, ns
verdict
  rule                       rule                   text
  share                      share                  real, ratio
  low                        from                   real, ratio
  high                       to                     real, ratio
  of                         of                     text
  gain_ns                    saves at most          real, ns
  gain_share                 part of that whole     real, ratio, data only
  state                      state                  text, data only
  question                   question               text, wide only, data only
  firm                       firm                   int, data only
  statement                  statement              text, data only
  hint                       hint                   text, data only
  missing                    missing                text, data only
steps
  step                       step                   int
  thread                     thread                 text
  thread                     thread                 text, data only
  start_ns                   start                  int, ns, wide only
  duration_ns                duration               int, ns, bar
  until_next_ns              until next             int, ns, wide only
  of_median                  of median              real, times, wide only
  cpu_share                  cpu                    real, ratio, wide only
  most                       most of it             text
  why                        what took longer       text
  profiler_ns                profiler               int, ns, data only
  collector_ns               collector              int, ns, data only
  data_ns                    data                   int, ns, data only
  communication_ns           communication          int, ns, data only
  device_wait_ns             device wait            int, ns, data only
  checkpoint_ns              checkpoint             int, ns, data only
  evaluation_ns              evaluation             int, ns, data only
  optimizer_ns               optimizer              int, ns, data only
  backward_ns                backward               int, ns, data only
  forward_ns                 forward                int, ns, data only
  python_ns                  python                 int, ns, data only
  operators_ns               operators              int, ns, data only
  layers_ns                  layers                 int, ns, data only
  functions_ns               functions              int, ns, data only
  named_ns                   named                  int, ns, data only
  other_ns                   other                  int, ns, data only
  cpu_ns                     cpu                    int, ns, data only
  device_ns                  device                 int, ns
  device_events              device events          int, count, wide only
phases
  phase                      phase                  text
  where                      where                  text
  total_ns                   total                  int, ns, one unit
  per_step_ns                per step               real, ns, one unit
  share                      of wall                real, ratio, bar
  loop_share                 of the loop            real, ratio
  device_ns                  device                 int, ns
  device_events              device events          int, count, wide only
  totals: all
actions
  name                       action                 text
  category                   kind                   text, wide only
  calls                      calls                  int, count
  self_ns                    self                   int, ns
  total_ns                   total                  int, ns
  mean_ns                    mean                   int, ns, not narrow
  min_ns                     min                    int, ns, wide only
  max_ns                     max                    int, ns, wide only
  p50_ns                     p50                    int, ns, wide only
  p99_ns                     p99                    int, ns, not narrow
  share                      of all                 real, ratio, bar
  share                      of wall                real, ratio, bar
  place                      place                  text, not narrow
  file                       file                   text, data only
  device_ns                  device                 int, ns
  device_total_ns            device total           int, ns
  device_events              device events          int, count, wide only
  totals: all actions
operators
  name                       operator               text
  calls                      calls                  int, count
  self_ns                    self                   int, ns
  total_ns                   total                  int, ns
  mean_ns                    mean                   int, ns, not narrow
  min_ns                     min                    int, ns, wide only
  max_ns                     max                    int, ns, wide only
  p50_ns                     p50                    int, ns, wide only
  p99_ns                     p99                    int, ns, not narrow
  share                      of operators           real, ratio, bar
  place                      place                  text, not narrow
  place                      place                  text, not narrow, data only
  file                       file                   text, data only
  share                      of operators           real, ratio, bar, data only
  self_per_step_ns           self/step              real, ns
  loop_share                 of the loop            real, ratio, bar
  other_threads_per_step_ns  other threads/step     real, ns, not narrow, data only
  device_ns                  device                 int, ns
  device_total_ns            device total           int, ns
  device_events              device events          int, count, wide only
  other_threads_per_step_ns  other threads/step     real, ns, not narrow
  totals: all operators
sequence
  is: a tree
  name                       operator               text
  op_id                      OP_ID                  int
  phase                      phase                  text, data only
  repeats                    repeats                int, count, data only
  iterations                 iterations             int, count
  mean_ns                    mean                   real, ns
  min_ns                     min                    int, ns, wide only
  max_ns                     max                    int, ns, wide only
  p99_ns                     p99                    int, ns
  std_ns                     std                    real, ns
  share                      of a step              real, ratio, bar
  drift                      drift                  real, ratio
  device_ns                  device                 real, ns
  device_events              device events          real, count, wide only
  totals: all operators
calls
  name                       name                   text
  calls                      calls                  int, count
  self_ns                    self                   int, ns
  total_ns                   total                  int, ns
  mean_ns                    mean                   int, ns, not narrow
  min_ns                     min                    int, ns, wide only
  max_ns                     max                    int, ns, wide only
  p50_ns                     p50                    int, ns, wide only
  p99_ns                     p99                    int, ns, not narrow
  share                      of self time           real, ratio, bar
  self_bytes                 self memory            int, bytes
  total_bytes                memory                 int, bytes
  flops                      FLOPs                  int, count
  category                   category               text, data only
  place                      place                  text, not narrow
  place                      place                  text, not narrow, data only
  file                       file                   text, data only
  device_ns                  device                 int, ns
  device_total_ns            device total           int, ns
  device_events              device events          int, count, wide only
  totals: all
tree
  is: a tree
  name                       call                   text
  depth                      depth                  int, data only
  category                   kind                   text, data only
  total_ns                   total                  int, ns
  self_ns                    self                   int, ns
  calls                      calls                  int, count
  mean_ns                    mean                   int, ns, wide only
  p99_ns                     p99                    int, ns, wide only
  share                      of thread              real, ratio, bar
  place                      place                  text, not narrow, data only
  device_ns                  device                 int, ns
  device_total_ns            device total           int, ns
  device_events              device events          int, count, wide only
  place                      place                  text, not narrow
  file                       file                   text, data only
threads
  thread                     thread                 text
  pid                        pid                    int, wide only
  tid                        tid                    int
  records                    records                int, count
  ranges                     ranges                 int, count
  first_ns                   first                  int, ns, wide only
  last_ns                    last                   int, ns
  busy_ns                    busy                   int, ns
  busy_share                 busy share             real, ratio, bar
  gap_ns                     overwritten            int, ns, data only
  lost                       lost                   int, count
  threads                    threads                int, count, data only
  totals: all threads
async
  name                       asynchronous range     text
  calls                      calls                  int, count
  total_ns                   total                  int, ns
  mean_ns                    mean                   real, ns
  min_ns                     min                    int, ns
  p50_ns                     p50                    int, ns
  p99_ns                     p99                    int, ns
  max_ns                     max                    int, ns
  at_once                    at once                int, count
  open                       not ended              int, count
memory: categories
  category                   category               text
  peak_bytes                 at the peak            int, bytes
  share                      of the peak            real, ratio, bar
  live_bytes                 at the end             int, bytes
  allocated_bytes            allocated              int, bytes
  allocations                allocations            int, count
  freed_bytes                freed                  int, bytes, wide only
  frees                      frees                  int, count, wide only
  totals: all categories
memory: peak
  holder                     allocated by           text
  peak_bytes                 at the peak            int, bytes
  share                      of the peak            real, ratio, bar
memory: allocators
  name                       allocator              text
  allocations                allocations            int, count
  self_bytes                 self                   int, bytes
  total_bytes                total                  int, bytes
  total_allocations          allocations, total     int, count, wide only
  freed_bytes                freed                  int, bytes, wide only
  live_bytes                 at the end             int, bytes
  live_allocations           live                   int, count, wide only
memory: timeline
  is: only sentences
  device                     device                 text
  time_ns                    time                   int, ns
  parameter                  parameter              int, bytes
  gradient                   gradient               int, bytes
  activation                 activation             int, bytes
  input                      input                  int, bytes
  optimizer_state            optimizer state        int, bytes
  temporary                  temporary              int, bytes
  other                      other                  int, bytes
  all                        all                    int, bytes
  totals: cpu (malloc)
  totals: cpu
flops
  name                       operator               text
  calls                      calls                  int, count
  flops                      FLOP                   int, count, data only
  gflop                      GFLOP                  real
  share                      of FLOPs               real, ratio, bar
  total_ns                   time                   int, ns
  gflop_per_second           GFLOP/s                real
  of_peak                    of the peak            real, ratio
  totals: all counted
flops: uncounted
  name                       not counted            text
  calls                      calls                  int, count
  self_ns                    self                   int, ns
  share                      of operators           real, ratio, bar
  why                        why                    text
facts
  fact                       fact                   text
  shown                      value                  text
  interval                   95% interval           text, wide only
  denominator                of                     text
  value                      value                  real, data only
  low                        low                    real, data only
  high                       high                   real, data only
  unit                       unit                   text, data only
  samples                    samples                int, count, wide only
  evidence                   what                   text
  missing                    not measured           text, data only
  meaning                    meaning                text, data only
overview: device
  name                       the device             text
  per_step_ns                                       real, ns, one unit
  share                      of a steady step       real, ratio, bar
device: division
  part                       part                   text
  device                     device                 text, data only
  ns                         time                   int, ns
  step_ns                    a step                 real, ns, one unit, data only
  step_ns                    a step                 real, ns, one unit
  share                      share                  real, ratio, bar
  host                       the host is mostly in  text, data only
  host                       the host is mostly in  text
device: devices
  device                     device                 text
  events                     events                 int, count
  first_ns                   first                  int, ns, wide only
  last_ns                    last                   int, ns, wide only
  span_ns                    span                   int, ns
  compute_ns                 compute                int, ns
  communication_ns           communication          int, ns
  copy_ns                    copy                   int, ns
  idle_ns                    idle                   int, ns
  hidden_ns                  communication hidden   int, ns
  only_compute_ns            only compute           int, ns, data only
  only_communication_ns      only communication     int, ns, data only
  compute_communication_ns   compute, communication int, ns, data only
  only_copy_ns               only copy              int, ns, data only
  compute_copy_ns            compute, copy          int, ns, data only
  communication_copy_ns      communication, copy    int, ns, data only
  all_classes_ns             all                    int, ns, data only
device: synchronising calls
  call                       synchronising call     text
  operator                   in operator            text
  times                      times                  int, count
  idle_ns                    device idle            int, ns
  share                      of the wall time       real, ratio
kernels: families
  family                     family                 text
  calls                      events                 int, count
  total_ns                   total                  int, ns
  share                      share                  real, ratio, bar
  totals: all
kernels: names
  short_name                 name                   text
  name                       full name              text, data only
  family                     family                 text
  class                      class                  text, data only
  calls                      events                 int, count
  total_ns                   total                  int, ns
  share                      share                  real, ratio
  mean_ns                    mean                   real, ns
  min_ns                     min                    int, ns, wide only
  max_ns                     max                    int, ns, wide only
  deviation_ns               deviation              real, ns, data only
  bytes                      bytes                  int, bytes, data only
  bytes_per_second           a second               real, bytes, wide only, data only
  bytes                      bytes                  int, bytes
  bytes_per_second           a second               real, bytes, wide only
  operator                   most in operator       text
kernels: operators
  operator                   operator               text
  calls                      calls                  int, count
  self_ns                    self                   int, ns
  total_ns                   total                  int, ns
  share                      share of all           real, ratio, bar
streams: streams
  device                     device                 text, data only
  stream                     stream                 text
  events                     events                 int, count
  busy_ns                    busy                   int, ns
  busy_share                 busy share             real, ratio, bar
  overlap_ns                 with others            int, ns
  late_ns                    host late              int, ns
  short_ns                   short gaps             int, ns
  waiting_ns                 waiting                int, ns
  late_gaps                  late gaps              int, count, data only
  short_gaps                 short gaps             int, count, data only
  waiting_gaps               waiting gaps           int, count, data only
  depth                      mean depth             real
  depth_max                  most                   int, count
  depth_points               points                 int, count, data only
  depth_point_mean           mean of points         real, data only
  depth_point_deviation      deviation of points    real, data only
  depth_min                  least                  int, count, data only
  depth_p25                  p25                    real, data only
  depth_p50                  p50                    real, data only
  depth_p75                  p75                    real, data only
streams: launches
  call                       call                   text
  calls                      calls                  int, count
  events                     events                 int, count
  call_ns                    in the call            int, ns
  call_mean_ns               mean                   real, ns
  call_p50_ns                p50                    real, ns, wide only
  call_max_ns                max                    int, ns, wide only
  device_ns                  device                 int, ns
  device_p50_ns              device p50             real, ns, data only
  device_max_ns              device max             int, ns, data only
  delay_ns                   delay sum              int, ns, data only
  delay_mean_ns              delay                  real, ns
  delay_p50_ns               delay p50              real, ns
  delay_max_ns               delay max              int, ns, wide only
  longer_than_device         longer than its work   int, count
  slow_calls                 calls over 50 us       int, count, data only
  late_starts                delays over 100 us     int, count, data only
overview: wall
  name                       main thread            text
  total_ns                                          int, ns, one unit
  share                      of wall                real, ratio, bar
  calls                      calls                  int, count
  totals: all
overview: account
  is: only sentences
  does                       train.py[50] python3   text
  does                       main thread            text
  function                   largest part in        text, data only
  line                       line                   text, data only
  function                   largest part in        text
  line                       line                   text
  ns                         time                   real, ns
  share                      share                  real, ratio, bar
  error                      +-                     real, ratio, wide only, data only
  samples                    samples                int, count, wide only, data only
  error                      +-                     real, ratio, wide only
  samples                    samples                int, count, wide only
  state                      state                  text, data only
  activity                   activity               text, data only
  totals: all
overview: kernels
  name                       kernels and copies by time text
  family                     family                 text
  events                     events                 int, count
  total_ns                   total                  int, ns
  share                      of all                 real, ratio
  mean_ns                    mean                   real, ns
overview: hot
  name                       functions by CPU time  text
  place                      line                   text
  self_share                 self                   real, ratio, bar
  self_error                 +-                     real, ratio, wide only
  total_share                total                  real, ratio
  samples                    samples                int, count, wide only
  self_ns                    self                   int, ns, data only
  total_ns                   total                  int, ns, data only
overview: actions
  name                       named ranges by self time text
  calls_per_step             calls/step             real, count
  self_per_step_ns           self/step              real, ns
  share                      of the loop            real, ratio
  calls                      calls                  int, count
  self_ns                    self                   int, ns
  share                      of all                 real, ratio
  share                      of wall                real, ratio
  p99_ns                     p99                    int, ns
account: account
  does                       main thread            text
  function                   largest part in        text
  line                       line                   text
  ns                         time                   real, ns
  share                      share                  real, ratio, bar
  error                      +-                     real, ratio, wide only
  samples                    samples                int, count, wide only
  state                      state                  text, data only
  activity                   activity               text, data only
  totals: all
hot
  short_name                 function               text
  name                       whole name             text, data only
  place                      line                   text
  self_ns                    self                   int, ns, not narrow
  self_share                 self share             real, ratio, bar
  self_error                 +-                     real, ratio
  total_ns                   total                  int, ns, not narrow
  total_share                total share            real, ratio
  samples                    samples                int, count
  file                       file                   text, data only
  line                       line                   int, data only
  module                     library                text, data only
  totals: all
requests
  name                       threads, tasks         text
  count                      count                  int, count
  at_once                    at once                int, count
  mean_ns                    mean                   int, ns
  share                      share                  real, ratio, bar
  p50_ns                     p50                    int, ns
  p90_ns                     p90                    int, ns
  p95_ns                     p95                    int, ns, not narrow
  p99_ns                     p99                    int, ns
  max_ns                     longest                int, ns
  most                       most of it in          text
events
  event                      event                  text
  calls                      calls                  int, count
  total_ns                   total                  int, ns
  min_ns                     min                    int, ns
  min_index                  at                     int
  max_ns                     max                    int, ns
  max_index                  at                     int
  mean_ns                    mean                   int, ns
  std_ns                     std                    int, ns
  device_ns                  device                 int, ns
  device_events              device events          int, count, wide only
handlers
  handler                    handler                text
  event                      event                  text
  calls                      calls                  int, count
  total_ns                   total                  int, ns
  min_ns                     min                    int, ns
  min_index                  at                     int
  max_ns                     max                    int, ns
  max_index                  at                     int
  mean_ns                    mean                   int, ns
  std_ns                     std                    int, ns
  device_ns                  device                 int, ns
  device_events              device events          int, count, wide only
  totals: all handlers
layers
  is: a tree
  name                       layer                  text
  path                       path                   text, data only
  kind                       kind                   text, data only
  type                       type                   text, data only
  call                       call                   int, data only
  start_ns                   start                  int, ns, data only
  calls                      calls                  int, count
  self_ns                    self                   int, ns
  total_ns                   total                  int, ns
  mean_ns                    mean                   int, ns, wide only
  operators_ns               operators              int, ns
  share                      of operators           real, ratio, bar
  backward_calls             backward calls         int, count, data only
  backward_ns                backward               int, ns, data only
  backward_total_ns          backward total         int, ns, data only
  backward_ns                backward               int, ns
  backward_total_ns          backward total         int, ns
  device_ns                  device                 int, ns, data only
  device_total_ns            device total           int, ns, data only
  flops                      FLOPs                  int, count, data only
  device_ns                  device                 int, ns
  device_total_ns            device total           int, ns
  flops                      FLOPs, both passes     int, count
  parameters                 parameters             int, count, data only
  self_bytes                 self memory            int, bytes
  total_bytes                memory                 int, bytes
  self_bytes                 self memory            int, bytes, data only
  total_bytes                memory                 int, bytes, data only
  backward_bytes             backward memory        int, bytes, wide only, data only
  backward_device_ns         backward device        int, ns
  backward_device_total_ns   backward device total  int, ns
  device_events              device events          int, count, wide only
  totals: all operators
counters
  is: a tree
  row                        counter                text
  counter                    counter                text, data only
  unit                       unit                   text
  samples                    samples                int, count
  first                      first                  real
  last                       last                   real
  mean                       mean                   real
  min                        min                    real
  max                        max                    real
  nan                        not a number           int, count
  nan                        not a number           int, count, data only
roofline
  name                       operator               text
  shapes                     shapes                 text, wide only
  calls                      calls                  int, count
  device_ns                  device                 int, ns
  share                      of the device          real, ratio, bar
  gflop                      GFLOP                  real
  bytes                      bytes                  int, bytes
  intensity                  FLOP/byte              real, not narrow
  tflop_per_second           TFLOP/s                real
  tb_per_second              TB/s                   real
dataloader
  thread                     thread                 text
  role                       role                   text
  name                       range                  text
  calls                      batches                int, count
  total_ns                   total                  int, ns
  mean_ns                    mean                   int, ns
  samples                    samples                int, count
  sample_ns                  a sample               int, ns
  ready                      ready                  real, count
  p50_ns                     p50                    int, ns, wide only
  p99_ns                     p99                    int, ns
  share                      of its time            real, ratio, bar
marks
  mark                       mark                   text
  count                      count                  int, count
  per_step                   per step               real, count
  first_ns                   first                  int, ns
  last_ns                    last                   int, ns
  apart_ns                   apart                  real, ns
  threads                    threads                int, count
heap
  name                       allocated by           text
  place                      line                   text
  caller                     called by              text, not narrow
  peak_bytes                 at the peak            int, bytes
  peak_error_bytes           +-                     int, bytes
  live_bytes                 at the end             int, bytes
  live_error_bytes           +-                     int, bytes, wide only
  growth_bytes               growth a step          real, bytes
  growth_error_bytes         +-                     real, bytes
  allocated_bytes            allocated              int, bytes, wide only
  samples                    samples                int, count, wide only
  file                       file                   text, data only
  line                       line number            int, data only
  pid                        process                int, data only
functions
  name                       function               text
  file                       file                   text, wide only
  line                       line                   int, wide only
  calls                      calls                  int, count
  primitive                  primitive              int, count, wide only
  self_ns                    self                   int, ns
  total_ns                   total                  int, ns
  mean_ns                    total/call             int, ns
  share                      of functions           real, ratio, bar
  totals: all functions
gc
  name                       collection             text
  calls                      pauses                 int, count
  total_ns                   total                  int, ns
  share                      of wall                real, ratio, bar
  mean_ns                    mean                   int, ns
  p99_ns                     p99                    int, ns
  max_ns                     longest                int, ns
  longest_at_ns              at                     int, ns
  longest_step               in step                int
  in_steps_ns                in steps               int, ns, wide only
  totals: all
stragglers
  rank                       rank                   int
  host                       host                   text, wide only
  step                       in step                int
  excess                     excess                 real, ratio
  excess_ns                  delays by              real, ns
  last                       last in                real, ratio
  part                       most in                text
  part_excess_ns             excess there           real, ns, wide only
  layer                      layer                  text
  name                       operator               text
flows
  flow                       flow                   text
  out                        out                    int, count
  in                         in                     int, count
  mean_ns                    mean                   real, ns
  min_ns                     min                    int, ns
  max_ns                     max                    int, ns
  other_thread               to another thread      real, ratio
  without_out                in without out         int, count
