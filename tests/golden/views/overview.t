$ trace train && dwell report train.dwell --view overview --format json
{"dwell":1,"views":[
{"view":"overview","part":"run","traces":["train.dwell"],"scope":{},
 "columns":[
  {"name":"wall_ns","label":"wall","unit":"ns","type":"int"},
  {"name":"records","label":"records","unit":"count","type":"int"},
  {"name":"ranges","label":"ranges","unit":"count","type":"int"},
  {"name":"cost_share","label":"profiling","unit":"ratio","type":"real","of":"the recorded time"},
  {"name":"steps","label":"steps","unit":"count","type":"int"},
  {"name":"steps_recorded","label":"steps recorded","unit":"count","type":"int"},
  {"name":"steps_ns","label":"in steps","unit":"ns","type":"int"},
  {"name":"loops_ns","label":"loops","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"a step","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p95_ns","label":"p95","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"slowest_step","label":"slowest step","unit":"","type":"int"},
  {"name":"slowest_ns","label":"slowest","unit":"ns","type":"int"},
  {"name":"verdict","label":"verdict","unit":"","type":"text"},
  {"name":"verdict_share","label":"its share","unit":"ratio","type":"real","of":"what the verdict names"}],
 "rows":[
  [1019500000,980,490,2.52890477e-05,40,40,844500000,951400000,23785000,20100000,60100000,123100000,30,60000000,"evaluation",0.0945974354]],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["train: 40 steps in 951 ms, 23.79 ms a step (p50 20.10, p95 60.10).","Evaluation takes 9% of the loop (1 time in the run).","  -> evaluate less often or on fewer samples: at most 2.25 ms a step, 9%","Waiting for data takes 9% of the loop: 1 loader worker cannot keep up.","  -> 2 workers if CPUs are free, or cheaper samples: at most 2.02 ms a step, 9% (dwell report --view dataloader)","All of this together: at most 4.27 ms a step, 18%."],
 "notes":[]},
{"view":"overview","part":"breakdown","traces":["train.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"a step","unit":"","type":"text"},
  {"name":"per_step_ns","label":"","unit":"ns","type":"real"},
  {"name":"share","label":"of the loop","unit":"ratio","type":"real","sums":"per_step_ns","whole":23785000}],
 "rows":[
  ["forward",8022500,0.337292411],
  ["backward",8000000,0.336346437],
  ["evaluation",2250000,0.0945974354],
  ["data",2022500,0.0850325836],
  ["optimizer",1567500,0.06590288],
  ["collector",1000000,0.0420433046],
  ["checkpoint",300000,0.0126129914],
  ["between steps",122500,0.00515030481],
  ["other",500000,0.0210216523]],
 "totals":{"per_step_ns":23785000,"share":1},
 "coverage":1,"losses":[],
 "notes":[]},
{"view":"overview","part":"operators","traces":["train.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"operators by self time","unit":"","type":"text"},
  {"name":"calls_per_step","label":"calls/step","unit":"count","type":"real"},
  {"name":"self_per_step_ns","label":"self/step","unit":"ns","type":"real"},
  {"name":"share","label":"of the loop","unit":"ratio","type":"real","sums":"self_per_step_ns","whole":23785000},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"}],
 "rows":[
  ["conv2d_backward",1,7000000,0.294303132,7000000],
  ["conv2d",2,6000000,0.252259828,5046272],
  ["resize (other threads)",0.95,2850000,null,null],
  ["sgd",1,1067500,0.0448812277,1300000],
  ["im2col",1,1022500,0.042989279,1100000],
  ["relu",1,500000,0.0210216523,500000]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":["(other threads): at the same time as the steps, no part of their time.","Outside the loop: 46.0 ms of start-up and 22.1 ms after the last step.","The run has 1 evaluation, 90.0 ms; 1 checkpoint, 12.0 ms.","Slowest: step 30 took 60.0 ms, 40.0 ms longer than usual in gc: generation 2 (dwell report --view steps).","Trust: nothing is lost; profiling cost less than 0.1% of the loop.","Next: dwell view train.dwell (timeline); dwell report --format html -o r.html (a page), --limit 20, --view steps|dataloader|operators|actions|phases; all: dwell report --help"]}
]}

$ dwell report train.dwell
train: 40 steps in 951 ms, 23.79 ms a step (p50 20.10, p95 60.10).
SLOW   Evaluation takes 9% of the loop (1 time in the run).
TRY    evaluate less often or on fewer samples: at most 2.25 ms a step, 9%
SLOW   Waiting for data takes 9% of the loop: 1 loader worker cannot keep up.
TRY    2 workers if CPUs are free, or cheaper samples: at most 2.02 ms a step,
       9% (dwell report --view dataloader)
ALL    together: at most 4.27 ms a step, 18%.

  a step            ms  of the loop
  forward         8.02        33.7%
  backward        8.00        33.6%
  evaluation      2.25         9.5%
  data            2.02         8.5%
  optimizer       1.57         6.6%
  collector       1.00         4.2%
  checkpoint      0.30         1.3%
  between steps   0.12         0.5%
  other           0.50         2.1%
  all            23.79       100.0%

  operators by self time  calls/step  self/step  of the loop     p99
  conv2d_backward                  1     7.00ms        29.4%  7.00ms
  conv2d                           2     6.00ms        25.2%  5.05ms
  resize (other threads)        0.95     2.85ms
  sgd                              1     1.07ms         4.5%  1.30ms
  im2col                           1     1.02ms         4.3%  1.10ms

(other threads): at the same time as the steps, no part of their time.
NOTE   Outside the loop: 46.0 ms of start-up and 22.1 ms after the last step.
NOTE   The run has 1 evaluation, 90.0 ms; 1 checkpoint, 12.0 ms.
NOTE   Slowest: step 30 took 60.0 ms, 40.0 ms longer than usual in gc:
       generation 2 (dwell report --view steps).
Trust: nothing is lost; profiling cost less than 0.1% of the loop.
Next:  dwell view train.dwell (timeline); dwell report --format html -o r.html
       (a page), --limit 20, --view steps|dataloader|operators|actions|phases;
       all: dwell report --help

$ dwell report train.dwell --steps 30..31
Only steps 30..31.
train: 2 steps in 80.7 ms, 40.4 ms a step (p50 20.6, p95 60.1).
SLOW   Garbage collection takes 50% of the loop.
TRY    allocate fewer objects that are collected
LOOK   dwell report --view gc

  a step           ms  of the loop
  collector      20.0        49.6%
  forward         8.1        20.0%
  backward        8.0        19.8%
  data            2.0         5.1%
  optimizer       1.6         4.1%
  between steps   0.1         0.2%
  other           0.5         1.2%
  all            40.4       100.0%

  operators by self time  calls/step  self/step  of the loop     p99
  conv2d_backward                  1     7.00ms        17.3%  7.00ms
  conv2d                           2     6.00ms        14.9%  5.10ms
  resize (other threads)           2     6.00ms
  sgd                              1     1.15ms         2.9%  1.30ms
  im2col                           1     1.05ms         2.6%  1.10ms

(other threads): at the same time as the steps, no part of their time.
NOTE   Slowest: step 30 took 60.0 ms, 40.0 ms longer than usual in gc:
       generation 2 (dwell report --view steps).
Trust: nothing is lost; profiling cost less than 0.1% of the loop.
Next:  dwell view train.dwell (timeline); dwell report --format html -o r.html
       (a page), --limit 20, --view steps|dataloader|operators|actions|phases;
       all: dwell report --help

$ trace samples && dwell report samples.dwell
train.py: 25 steps in 646 ms, 25.84 ms a step (p50 26.00, p95 26.00).
SLOW   The interpreter of Python takes 26% of the loop, most of it in
       log_metrics (log.py:7), called by main (train.py:50).
TRY    operations on whole arrays in place of loops, or work once instead of in
       every pass: at most 6.72 ms a step, 26%
LOOK   dwell report --view hot
SLOW   15% of the loop lies between the steps, in Python and waits, most of it
       in log_metrics (log.py:7).
TRY    what not every step needs (metrics, logging): every n-th step: at most
       3.84 ms a step, 15% (dwell report --view tree)
ALL    together: at most 10.56 ms a step, 41%.

  main thread        largest part in  line        time  share    +-  samples
  runs: own code     mkl_gemm                    428ms  66.3%  7.4%       76
  runs: interpreter  log_metrics      log.py:7   168ms  26.0%  7.4%       49
  unknown                                       50.0ms   7.7%
  all                                            646ms

  operators by self time  calls/step  self/step  of the loop     p99
  aten::linear                     1     6.00ms        23.2%  6.00ms
  aten::linear_backward            1     6.00ms        23.2%  6.00ms

NOTE   Outside the loop: 11.0 ms of start-up and 3.00 ms after the last step.
Trust: nothing is lost.
Next:  dwell view samples.dwell (timeline); dwell report --format html -o r.html
       (a page), --limit 20, --view steps|operators|hot|waits|account; all:
       dwell report --help

$ trace samples_alone && dwell report samples_alone.dwell --format json
{"dwell":1,"views":[
{"view":"overview","part":"run","traces":["samples_alone.dwell"],"scope":{},
 "columns":[
  {"name":"wall_ns","label":"wall","unit":"ns","type":"int"},
  {"name":"records","label":"records","unit":"count","type":"int"},
  {"name":"ranges","label":"ranges","unit":"count","type":"int"},
  {"name":"cost_share","label":"profiling","unit":"ratio","type":"real","of":"the recorded time"},
  {"name":"steps","label":"steps","unit":"count","type":"int"},
  {"name":"steps_recorded","label":"steps recorded","unit":"count","type":"int"},
  {"name":"steps_ns","label":"in steps","unit":"ns","type":"int"},
  {"name":"loops_ns","label":"loops","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"a step","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p95_ns","label":"p95","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"slowest_step","label":"slowest step","unit":"","type":"int"},
  {"name":"slowest_ns","label":"slowest","unit":"ns","type":"int"},
  {"name":"verdict","label":"verdict","unit":"","type":"text"},
  {"name":"verdict_share","label":"its share","unit":"ratio","type":"real","of":"what the verdict names"}],
 "rows":[
  [1208000000,442,0,null,null,null,null,null,null,null,null,null,null,null,null,null]],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["engine: 1.21 s, 1.5 of 8 CPUs in use. No steps are marked.","The program's own code takes 80% of the run, 75% of it in gemm (matmul.c:88), 25% in relu (net.c:21).","  -> dwell report --view hot","The CPU time of thread poll is all in one loop, poll_queue (queue.c:15): it may spin while it waits."],
 "notes":[]},
{"view":"overview","part":"account","traces":["samples_alone.dwell"],"scope":{},
 "columns":[
  {"name":"does","label":"main thread","unit":"","type":"text"},
  {"name":"function","label":"largest part in","unit":"","type":"text"},
  {"name":"line","label":"line","unit":"","type":"text"},
  {"name":"ns","label":"time","unit":"ns","type":"real"},
  {"name":"share","label":"share","unit":"ratio","type":"real","sums":"ns","whole":1.208e+09},
  {"name":"error","label":"+-","unit":"ratio","type":"real","of":"the time of the table"},
  {"name":"samples","label":"samples","unit":"count","type":"int"},
  {"name":"state","label":"state","unit":"","type":"text"},
  {"name":"activity","label":"activity","unit":"","type":"text"}],
 "rows":[
  ["runs: own code","gemm","matmul.c:88",964000000,0.798013245,0.00625855668,241,"runs","own"],
  ["unknown",null,null,244000000,0.201986755,null,null,"unknown","unknown"]],
 "totals":{"ns":1.208e+09},
 "coverage":1,"losses":[],
 "notes":[]},
{"view":"overview","part":"hot","traces":["samples_alone.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"functions by CPU time","unit":"","type":"text"},
  {"name":"place","label":"line","unit":"","type":"text"},
  {"name":"self_share","label":"self","unit":"ratio","type":"real","sums":"self_ns","whole":1.772e+09},
  {"name":"self_error","label":"+-","unit":"ratio","type":"real","of":"the CPU time in scope"},
  {"name":"total_share","label":"total","unit":"ratio","type":"real","sums":"total_ns","whole":1.772e+09},
  {"name":"samples","label":"samples","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"}],
 "rows":[
  ["poll_queue","queue.c:15",0.451467269,0.0462487156,0.451467269,200,800000000,800000000],
  ["gemm","matmul.c:88",0.406320542,0.0456557965,0.406320542,180,720000000,720000000],
  ["relu","net.c:21",0.135440181,0.0321082676,0.135440181,60,240000000,240000000],
  ["(stack not read)",null,0.00451467269,0.0086750192,0.00451467269,1,8000000,8000000],
  ["read_weights","io.c:31",0.00225733634,0.00749846821,0.00225733634,1,4000000,4000000],
  ["train_epoch","train.c:71",0,0.00609192891,0.541760722,240,0,960000000],
  ["io_thread","queue.c:40",0,0.00609192891,0.451467269,200,0,800000000],
  ["forward","net.c:40",0,0.00609192891,0.406320542,180,0,720000000],
  ["backward","net.c:66",0,0.00609192891,0.135440181,60,0,240000000]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":["  -> DWELL_STEP() around an iteration, or dwell run --step-on FUNCTION, shows what a step takes; these functions may be one: train_epoch, forward","Trust: nothing is lost; 442 samples stand for 1.77 s of CPU time.","Next: dwell view samples_alone.dwell (timeline); dwell report --format html -o r.html (a page), --limit 20, --view hot|waits|account|tree|threads; all: dwell report --help"]}
]}

$ trace samples_of_names && dwell report samples_of_names.dwell
engine: 1.60 s, 1.0 of 1 CPU in use. No steps are marked.
WORK   The program's own code takes 90% of the run, 78% of it in run_epoch
       (net.c:90), called by main (main.c:20).
LOOK   dwell report --view hot
SLOW   Allocating and freeing memory takes 10% of the run, most of it in grow
       (bank.c:40).
TRY    keep buffers, and small objects in one array in place of lists and trees
       of nodes: at most 160 ms in the run, 10%

  main thread      largest part in  line         time  share    +-  samples
  runs: own code   run_epoch        net.c:90    1.44s  89.8%  3.0%      359
  runs: allocates  grow             bank.c:40   160ms  10.0%  3.0%       40
  1 smaller one                                4.00ms   0.2%
  all                                           1.60s

  functions by CPU time  line        self    +-  total  samples
  ::learn_rate           rate.cc:5  30.0%  4.5%  30.0%      120
  free                              10.0%  3.0%  10.0%       40
  freeze_layers          net.c:31   10.0%  3.0%  10.0%       40
  malloc                            10.0%  3.0%  10.0%       40
  malloc_budget          rows.c:9   10.0%  3.0%  10.0%       40

TRY    DWELL_STEP() around an iteration, or dwell run --step-on FUNCTION, shows
       what a step takes; this function may be one: run_epoch
Trust: nothing is lost; 400 samples stand for 1.60 s of CPU time.
Next:  dwell view samples_of_names.dwell (timeline); dwell report --format html
       -o r.html (a page), --limit 20, --view hot|waits|account|tree|threads;
       all: dwell report --help

$ trace nosteps && dwell report nosteps.dwell --view overview
sim: 154 ms, 16 ranges. No steps are marked.
NOTE   solve recurs: it begins 6 iterations of 18.3 ms on average.

  main thread     ms  of wall  calls
  solve        104.0    67.7%      6
  setup         41.0    26.7%      1
  in no range    8.5     5.5%
  all          153.5   100.0%

  named ranges by self time  calls    self  of all     p99
  solve                          6   104ms   50.7%  20.0ms
  write                          1  60.0ms   29.3%  60.0ms
  setup                          1  31.0ms   15.1%  41.0ms
  read mesh                      1  10.0ms    4.9%  10.0ms

Trust: records are lost.
       Lost: 1,204,331 records: the disk was full.
       Lost: 1 record: a signal handler interrupted the recorder twice.
       Recorded: 79.8% of this time.
Next:  dwell view nosteps.dwell (timeline); dwell report --format html -o r.html
       (a page), --limit 20, --view functions|actions|tree|threads; all: dwell
       report --help

$ dwell report nosteps.dwell --format json
{"dwell":1,"views":[
{"view":"overview","part":"run","traces":["nosteps.dwell"],"scope":{},
 "columns":[
  {"name":"wall_ns","label":"wall","unit":"ns","type":"int"},
  {"name":"records","label":"records","unit":"count","type":"int"},
  {"name":"ranges","label":"ranges","unit":"count","type":"int"},
  {"name":"cost_share","label":"profiling","unit":"ratio","type":"real","of":"the recorded time"},
  {"name":"steps","label":"steps","unit":"count","type":"int"},
  {"name":"steps_recorded","label":"steps recorded","unit":"count","type":"int"},
  {"name":"steps_ns","label":"in steps","unit":"ns","type":"int"},
  {"name":"loops_ns","label":"loops","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"a step","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p95_ns","label":"p95","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"slowest_step","label":"slowest step","unit":"","type":"int"},
  {"name":"slowest_ns","label":"slowest","unit":"ns","type":"int"},
  {"name":"verdict","label":"verdict","unit":"","type":"text"},
  {"name":"verdict_share","label":"its share","unit":"ratio","type":"real","of":"what the verdict names"}],
 "rows":[
  [153510000,30,16,null,null,null,null,null,null,null,null,null,null,null,null,null]],
 "totals":{},
 "coverage":0.79809071,"losses":[{"cause":"disk","records":1204331},{"cause":"busy","records":1}],
 "heads":["sim: 154 ms, 16 ranges. No steps are marked.","solve recurs: it begins 6 iterations of 18.3 ms on average."],
 "notes":[]},
{"view":"overview","part":"wall","traces":["nosteps.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"main thread","unit":"","type":"text"},
  {"name":"total_ns","label":"","unit":"ns","type":"int"},
  {"name":"share","label":"of wall","unit":"ratio","type":"real","sums":"total_ns","whole":153510000},
  {"name":"calls","label":"calls","unit":"count","type":"int"}],
 "rows":[
  ["solve",104000000,0.677480294,6],
  ["setup",41000000,0.267083578,1],
  ["in no range",8500000,0.0553709856,null]],
 "totals":{"total_ns":153510000,"share":1},
 "coverage":0.79809071,"losses":[{"cause":"disk","records":1204331},{"cause":"busy","records":1}],
 "notes":[]},
{"view":"overview","part":"actions","traces":["nosteps.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"named ranges by self time","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"share","label":"of all","unit":"ratio","type":"real","sums":"self_ns","whole":205010000},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"}],
 "rows":[
  ["solve",6,104000000,0.507292327,20000000],
  ["write",1,60000000,0.29266865,60000000],
  ["setup",1,31000000,0.151212136,41000000],
  ["read mesh",1,10000000,0.0487781084,10000000]],
 "totals":{},
 "coverage":0.79809071,"losses":[{"cause":"disk","records":1204331},{"cause":"busy","records":1}],
 "notes":["Trust: records are lost.","Lost: 1,204,331 records: the disk was full.","Lost: 1 record: a signal handler interrupted the recorder twice.","Recorded: 79.8% of this time.","Next: dwell view nosteps.dwell (timeline); dwell report --format html -o r.html (a page), --limit 20, --view functions|actions|tree|threads; all: dwell report --help"]}
]}

$ trace python && dwell report python.dwell --view overview
train.py: 6 steps in 650 ms, 108.3 ms a step (p50 110.0, p95 110.0).
NOTE   4 of the steps were recorded; the figures are of them.
SLOW   Waiting for data may take 28% of the loop.
TRY    samples that are decoded once and cached: at most 30.0 ms a step, 28%
LOOK   dwell report --view dataloader
SLOW   The interpreter of Python may take 25% of the loop.
TRY    operations on whole arrays in place of loops, or work once instead of in
       every pass: at most 27.4 ms a step, 25% (dwell run --sample 100 tells
       which functions)
ALL    together: at most 57.4 ms a step, 53%.

  a step            ms  of the loop
  data            30.0        27.7%
  backward        25.0        23.1%
  python          24.0        22.2%
  forward         20.0        18.5%
  between steps    8.3         7.7%
  profiler         1.0         0.9%
  all            108.3       100.0%

  operators by self time  calls/step  self/step  of the loop     p99
  AddmmBackward0                   1     25.0ms        23.1%  25.0ms
  aten::linear                     1     20.0ms        18.5%  20.0ms

NOTE   Outside the loop: 110 ms of start-up and 15.0 ms after the last step.
Trust: nothing is lost; profiling cost about 0.9% of the loop (1.00 ms a step).
       Recorded: 74.2% of this time.
Next:  dwell view python.dwell (timeline); dwell report --format html -o r.html
       (a page), --limit 20, --view steps|dataloader|operators|actions|phases;
       all: dwell report --help

$ dwell report python.dwell
train.py: 6 steps in 650 ms, 108.3 ms a step (p50 110.0, p95 110.0).
NOTE   4 of the steps were recorded; the figures are of them.
SLOW   Waiting for data may take 28% of the loop.
TRY    samples that are decoded once and cached: at most 30.0 ms a step, 28%
LOOK   dwell report --view dataloader
SLOW   The interpreter of Python may take 25% of the loop.
TRY    operations on whole arrays in place of loops, or work once instead of in
       every pass: at most 27.4 ms a step, 25% (dwell run --sample 100 tells
       which functions)
ALL    together: at most 57.4 ms a step, 53%.

  a step            ms  of the loop
  data            30.0        27.7%
  backward        25.0        23.1%
  python          24.0        22.2%
  forward         20.0        18.5%
  between steps    8.3         7.7%
  profiler         1.0         0.9%
  all            108.3       100.0%

  operators by self time  calls/step  self/step  of the loop     p99
  AddmmBackward0                   1     25.0ms        23.1%  25.0ms
  aten::linear                     1     20.0ms        18.5%  20.0ms

NOTE   Outside the loop: 110 ms of start-up and 15.0 ms after the last step.
Trust: nothing is lost; profiling cost about 0.9% of the loop (1.00 ms a step).
       Recorded: 74.2% of this time.
Next:  dwell view python.dwell (timeline); dwell report --format html -o r.html
       (a page), --limit 20, --view steps|dataloader|operators|actions|phases;
       all: dwell report --help

$ trace loader && dwell report loader.dwell --view overview --format json
{"dwell":1,"views":[
{"view":"overview","part":"run","traces":["loader.dwell"],"scope":{},
 "columns":[
  {"name":"wall_ns","label":"wall","unit":"ns","type":"int"},
  {"name":"records","label":"records","unit":"count","type":"int"},
  {"name":"ranges","label":"ranges","unit":"count","type":"int"},
  {"name":"cost_share","label":"profiling","unit":"ratio","type":"real","of":"the recorded time"},
  {"name":"steps","label":"steps","unit":"count","type":"int"},
  {"name":"steps_recorded","label":"steps recorded","unit":"count","type":"int"},
  {"name":"steps_ns","label":"in steps","unit":"ns","type":"int"},
  {"name":"loops_ns","label":"loops","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"a step","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p95_ns","label":"p95","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"slowest_step","label":"slowest step","unit":"","type":"int"},
  {"name":"slowest_ns","label":"slowest","unit":"ns","type":"int"},
  {"name":"verdict","label":"verdict","unit":"","type":"text"},
  {"name":"verdict_share","label":"its share","unit":"ratio","type":"real","of":"what the verdict names"}],
 "rows":[
  [308000000,192,72,null,16,16,272400000,288400000,18025000,20000000,24000000,24000000,0,20000000,"loader-slow-workers",0.500693481]],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["train.py: 16 steps in 288 ms, 18.02 ms a step (p50 20.00, p95 24.00).","Device time not recorded: operator times are launch and wait times.","Waiting for data takes 50% of the loop: 2 loader workers cannot keep up (queue empty at 73% of requests).","  -> num_workers=4 if CPUs are free, or samples that are decoded once and cached; a worker takes 36.0 ms for a batch: at most 9.03 ms a step, 50%","  -> dwell report --view dataloader","The interpreter of Python may take 8% of the loop.","  -> operations on whole arrays in place of loops, or work once instead of in every pass: at most 1.37 ms a step, 8% (dwell run --sample 100 tells which functions)","All of this together: at most 10.40 ms a step, 58%."],
 "notes":[]},
{"view":"overview","part":"breakdown","traces":["loader.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"a step","unit":"","type":"text"},
  {"name":"per_step_ns","label":"","unit":"ns","type":"real"},
  {"name":"share","label":"of the loop","unit":"ratio","type":"real","sums":"per_step_ns","whole":18025000}],
 "rows":[
  ["data",9025000,0.500693481],
  ["forward",5000000,0.27739251],
  ["python",2750000,0.152565881],
  ["collector",1250000,0.0693481276]],
 "totals":{"per_step_ns":18025000,"share":1},
 "coverage":1,"losses":[],
 "notes":[]},
{"view":"overview","part":"account","traces":["loader.dwell"],"scope":{},
 "columns":[
  {"name":"does","label":"train.py[50] python3","unit":"","type":"text"},
  {"name":"function","label":"largest part in","unit":"","type":"text"},
  {"name":"line","label":"line","unit":"","type":"text"},
  {"name":"ns","label":"time","unit":"ns","type":"real"},
  {"name":"share","label":"share","unit":"ratio","type":"real","sums":"ns","whole":288400000},
  {"name":"error","label":"+-","unit":"ratio","type":"real","of":"the time of the table"},
  {"name":"samples","label":"samples","unit":"count","type":"int"},
  {"name":"state","label":"state","unit":"","type":"text"},
  {"name":"activity","label":"activity","unit":"","type":"text"}],
 "rows":[
  ["data",null,null,144400000,0.500693481,null,null,"runs","unknown"],
  ["unknown",null,null,62085991.7,0.215277364,null,null,"unknown","unknown"],
  ["runs",null,null,39944521.5,0.138503889,null,null,"runs","unknown"],
  ["runs: interpreter",null,null,21969486.8,0.0761771388,null,null,"runs","interpreter"],
  ["collector",null,null,20000000,0.0693481276,null,null,"runs","unknown"]],
 "totals":{"ns":288400000},
 "coverage":1,"losses":[],
 "notes":[]},
{"view":"overview","part":"operators","traces":["loader.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"operators by self time","unit":"","type":"text"},
  {"name":"calls_per_step","label":"calls/step","unit":"count","type":"real"},
  {"name":"self_per_step_ns","label":"self/step","unit":"ns","type":"real"},
  {"name":"share","label":"of the loop","unit":"ratio","type":"real","sums":"self_per_step_ns","whole":18025000},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"}],
 "rows":[
  ["aten::linear",1,5000000,0.27739251,5000000]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":["Outside the loop: 10.0 ms of start-up.","Trust: nothing is lost.","Next: dwell view loader.dwell (timeline); dwell report --format html -o r.html (a page), --limit 20, --view steps|dataloader|operators|actions|phases; all: dwell report --help"]}
]}

$ trace ranks && dwell report ranks.dwell --view overview
train: 10 steps of 2 processes in 39.0 ms each, 7.80 ms a step (p50 8.00, p95 8.00).
SLOW   Waiting for the last rank may take 13% of the loop: rank 1 is last in
       100% of the steps, longest in forward.
TRY    find what this rank does longer than the others: its data, its CPUs, its
       device: at most 1.00 ms a step, 13%
LOOK   dwell report --view stragglers
SLOW   10% of the loop lies between the steps, in no range.
TRY    do what not every step needs once, every n-th step, or in another thread:
       at most 800 us a step, 10% (dwell report --view tree)
WORK   13% of the loop lies in no named range.
TRY    DWELL_ZONE("name") around its parts shows which
ALL    together: at most 1.80 ms a step, 23%.

  a step, mean of 2 processes    ms  of the loop
  forward                      4.50        57.7%
  communication                1.50        19.2%
  between steps                0.80        10.3%
  other                        1.00        12.8%
  all                          7.80       100.0%

  named ranges by self time  calls/step  self/step  of the loop     p99
  forward                             1     4.50ms        57.7%  5.00ms
  all_reduce                          1     1.50ms        19.2%  2.00ms

NOTE   Outside the loops, as sums: 4.00 ms of start-up.
Trust: nothing is lost.
Next:  dwell view ranks.dwell (timeline); dwell report --format html -o r.html
       (a page), --limit 20, --view stragglers|steps|actions|phases|tree; all:
       dwell report --help

$ trace engine && dwell report engine.dwell
train: 277 ms, 119 ranges. No steps are marked.
NOTE   dataflow recurs: it begins 7 iterations of 36.7 ms on average, of 11
       calls in the run.
SLOW   Waiting for data takes 21% of the loop.
TRY    make batches ready in another thread while a step computes: at most 7.9
       ms an iteration, 21%
LOOK   dwell report --view dataloader

  main thread     ms  of wall  calls
  run          268.6    97.1%      4
  processing     5.0     1.8%      1
  in no range    3.0     1.1%
  all          276.6   100.0%

  operators by self time  calls    self  of wall     p99
  conv2d                      7  21.0ms     7.6%  3.00ms

Trust: nothing is lost.
Next:  dwell view engine.dwell (timeline); dwell report --format html -o r.html
       (a page), --limit 20, --view dataloader|operators|actions|tree|threads;
       all: dwell report --help

$ trace device && dwell report device.dwell
train.py: 2 steps in 315 us, 157.5 us a step (p50 200.0, p95 200.0).
SLOW   Communication that no computation hides may take 26% of a steady step on
       the device; its largest part is ncclDevKernel_AllReduce_Sum_f32_RING_LL.
TRY    larger batches or no_sync() for several batches; other bucket sizes
       (bucket_cap_mb); gradients in bfloat16: at most 40.0 us a step, 26%
LOOK   dwell report --view device
SLOW   The device is idle for 37% of a steady step, for 11% between pieces of
       work that were submitted in time: its kernels are short.
TRY    torch.compile, which merges kernels, CUDA graphs, larger batches: at most
       17.5 us a step, 11% (dwell report --view kernels)
SLOW   The device is idle for 37% of a steady step, for 8% because calls of the
       host wait for it, most of it because of cudaStreamSynchronize in
       aten::item.
TRY    no .item(), .cpu(), nonzero() or printing of tensors in every step;
       non_blocking=True copies from pinned memory: at most 13.0 us a step, 8%
       (dwell report --view device)
ALL    together: at most 70.5 us a step, 45%.

  a step            us  of the loop
  python         108.5        68.9%
  operators       37.0        23.5%
  forward          6.5         4.1%
  backward         3.0         1.9%
  between steps    2.5         1.6%
  all            157.5       100.0%

  the device                     us  of a steady step
  compute                      53.0             34.2%
  communication                40.0             25.8%
  copy                          5.0              3.2%
  idle: host late               6.0              3.9%
  idle: synchronising call     13.0              8.4%
  idle: launch latency         17.5             11.3%
  idle: not known why          10.0              6.5%
  idle: before its first work   6.5              4.2%
  idle: nothing submitted       4.0              2.6%

  operators by self time               calls/step  self/step  of the loop     p99
  aten::item                                  0.5     21.5us        13.7%  43.0us
  aten::add                                     1     12.0us         7.6%  18.0us
  aten::linear                                0.5     6.50us         4.1%  13.0us
  aten::mm                                    0.5     3.50us         2.2%  7.00us
  autograd::engine::evaluate_function         0.5     3.00us         1.9%  6.00us

NOTE   Outside the loop: 5.00 us of start-up.
NOTE   Slowest: step 0 took 195 us, 103 us longer than usual in
       cudaStreamSynchronize (dwell report --view steps).
Trust: nothing is lost.
Next:  dwell view device.dwell (timeline); dwell report --format html -o r.html
       (a page), --limit 20, --view steps|device|operators|actions|phases; all:
       dwell report --help

$ trace device_lost && dwell report device_lost.dwell
train.py: 4 steps in 43.0 ms, 10.75 ms a step (p50 11.00, p95 11.00).
NOTE   Device time not recorded in the last 51.2% of the loop: operator times
       are launch and wait times.
CUDA is recorded in part: another tool of the program (torch.profiler, say) took CUPTI while dwell recorded; device work is missing from then on.

  a step            ms  of the loop
  python          7.00        65.1%
  operators       3.00        27.9%
  between steps   0.75         7.0%
  all            10.75       100.0%

  operators by self time  calls/step  self/step  of the loop     p99
  aten::mm                         1     3.00ms        27.9%  3.00ms

NOTE   Outside the loop: 1.00 ms of start-up.
Trust: nothing is lost.
Next:  dwell view device_lost.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view steps|device|operators|phases|tree;
       all: dwell report --help

$ trace device_alone && dwell report device_alone.dwell
engine: 800 ms, 0.2 of 8 CPUs in use. No steps are marked.
SLOW   The device is idle for 89% of the run, for 57% after its last work.
LOOK   dwell report --view device
WORK   The program's own code takes 20% of the run, 100% of it in ioctl, called
       by train_epoch (train.c:71).
LOOK   dwell report --view hot
ALSO   NVIDIA H100 0: busy for 90.0 ms, 11.2% of the run; 2 kernels take 80.0
       ms; 1 copy takes 20.0 ms.
ALSO   NVIDIA H100 1: busy for 1.00 ms, 0.1% of the run; 1 kernel takes 1.00 ms.
ALSO   NVIDIA H100 2: the driver did not say how long its work took.

  main thread     largest part in  line   time  share    +-  samples
  unknown                                640ms  80.0%
  runs: own code  ioctl                  160ms  20.0%  0.9%       40
  all                                    800ms

  kernels and copies by time      family      events   total  of all    mean
  _Z4spinPfi                      other            2  41.0ms   36.9%  20.5ms
  ampere_sgemm_128x64_nn          matmul           1  40.0ms   36.0%  40.0ms
  Memcpy HtoD (Pinned -> Device)  copy             1  20.0ms   18.0%  20.0ms
  Memset (Device)                 memory set       1  10.0ms    9.0%  10.0ms

  functions by CPU time     line        self    +-   total  samples
  ioctl                                97.6%  7.2%   97.6%       40
  main                      main.c:21   2.4%  7.2%  100.0%       41
  cuDevicePrimaryCtxRetain              0.0%  5.9%   97.6%       40
  cudaMallocHost                        0.0%  5.9%   97.6%       40
  libcudart_static_1c70fb               0.0%  5.9%   97.6%       40

TRY    DWELL_STEP() around an iteration, or dwell run --step-on FUNCTION, shows
       what a step takes; this function may be one: train_epoch
Trust: nothing is lost; 41 samples stand for 164 ms of CPU time.
Next:  dwell view device_alone.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view device|hot|waits|account|tree; all:
       dwell report --help

$ trace device_nosteps && dwell report device_nosteps.dwell --view overview
python3: 542 ms, 34 ranges. No steps are marked.
SLOW   The device is idle for 99% of the run, for 94% before its first work.
LOOK   dwell report --view device
SLOW   Importing Python packages takes 74% of the run, most of it in the range
       XlaCompile jit_step.
TRY    import where it is used, or less of a package (dwell report --view
       account)
ALSO   NVIDIA H100 0: busy for 8.00 ms, 1.5% of the run; 1 kernel takes 8.00 ms.

  main thread                        ms  of wall  calls
  XlaCompile jit_step             401.0    74.0%      1
  XlaPassPipeline simplification   36.0     6.6%     12
  XlaModule jit_step               21.0     3.9%     21
  in no range                      84.0    15.5%
  all                             542.0   100.0%

  kernels and copies by time  family  events   total  of all    mean
  gemm_fusion_dot_general_11  matmul       1  8.00ms  100.0%  8.00ms

  functions by CPU time  line           self    +-   total  samples
  cache_miss             pjit.py:263  100.0%  6.1%  100.0%       40

  named ranges by self time       calls    self  of wall     p99
  XlaCompile jit_step                 1   401ms    74.0%   401ms
  XlaPassPipeline simplification     12  36.0ms     6.6%  3.00ms
  XlaModule jit_step                 21  21.0ms     3.9%  1.00ms

TRY    dwell.step() at an iteration's end, or dwell run --step-on NAME, shows
       what a step takes; the range XlaModule jit_step, which occurs 21 times,
       may be one: --step-on 'XlaModule:*=jit_step,*'
Trust: nothing is lost; 40 samples stand for 400 ms of CPU time.
Next:  dwell view device_nosteps.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view device|hot|waits|account|actions;
       all: dwell report --help

$ dwell report device_nosteps.dwell --format json
{"dwell":1,"views":[
{"view":"overview","part":"run","traces":["device_nosteps.dwell"],"scope":{},
 "columns":[
  {"name":"wall_ns","label":"wall","unit":"ns","type":"int"},
  {"name":"records","label":"records","unit":"count","type":"int"},
  {"name":"ranges","label":"ranges","unit":"count","type":"int"},
  {"name":"cost_share","label":"profiling","unit":"ratio","type":"real","of":"the recorded time"},
  {"name":"steps","label":"steps","unit":"count","type":"int"},
  {"name":"steps_recorded","label":"steps recorded","unit":"count","type":"int"},
  {"name":"steps_ns","label":"in steps","unit":"ns","type":"int"},
  {"name":"loops_ns","label":"loops","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"a step","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p95_ns","label":"p95","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"slowest_step","label":"slowest step","unit":"","type":"int"},
  {"name":"slowest_ns","label":"slowest","unit":"ns","type":"int"},
  {"name":"verdict","label":"verdict","unit":"","type":"text"},
  {"name":"verdict_share","label":"its share","unit":"ratio","type":"real","of":"what the verdict names"}],
 "rows":[
  [542000000,108,34,null,null,null,null,null,null,null,null,null,null,null,null,null]],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["python3: 542 ms, 34 ranges. No steps are marked.","The device is idle for 99% of the run, for 94% before its first work.","  -> dwell report --view device","Importing Python packages takes 74% of the run, most of it in the range XlaCompile jit_step.","  -> import where it is used, or less of a package (dwell report --view account)","NVIDIA H100 0: busy for 8.00 ms, 1.5% of the run; 1 kernel takes 8.00 ms."],
 "notes":[]},
{"view":"overview","part":"wall","traces":["device_nosteps.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"main thread","unit":"","type":"text"},
  {"name":"total_ns","label":"","unit":"ns","type":"int"},
  {"name":"share","label":"of wall","unit":"ratio","type":"real","sums":"total_ns","whole":542000000},
  {"name":"calls","label":"calls","unit":"count","type":"int"}],
 "rows":[
  ["XlaCompile jit_step",401000000,0.739852399,1],
  ["XlaPassPipeline simplification",36000000,0.0664206642,12],
  ["XlaModule jit_step",21000000,0.0387453875,21],
  ["in no range",84000000,0.15498155,null]],
 "totals":{"total_ns":542000000,"share":1},
 "coverage":1,"losses":[],
 "notes":[]},
{"view":"overview","part":"account","traces":["device_nosteps.dwell"],"scope":{},
 "columns":[
  {"name":"does","label":"main thread","unit":"","type":"text"},
  {"name":"function","label":"largest part in","unit":"","type":"text"},
  {"name":"line","label":"line","unit":"","type":"text"},
  {"name":"ns","label":"time","unit":"ns","type":"real"},
  {"name":"share","label":"share","unit":"ratio","type":"real","sums":"ns","whole":542000000},
  {"name":"error","label":"+-","unit":"ratio","type":"real","of":"the time of the table"},
  {"name":"samples","label":"samples","unit":"count","type":"int"},
  {"name":"state","label":"state","unit":"","type":"text"},
  {"name":"activity","label":"activity","unit":"","type":"text"}],
 "rows":[
  ["runs: imports",null,null,399999869,0.738007139,0.0854293104,40,"runs","imports"],
  ["unknown",null,null,142000131,0.261992861,null,null,"unknown","unknown"]],
 "totals":{"ns":542000000},
 "coverage":1,"losses":[],
 "notes":[]},
{"view":"overview","part":"kernels","traces":["device_nosteps.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"kernels and copies by time","unit":"","type":"text"},
  {"name":"family","label":"family","unit":"","type":"text"},
  {"name":"events","label":"events","unit":"count","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"share","label":"of all","unit":"ratio","type":"real","sums":"total_ns","whole":8000000},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"real"}],
 "rows":[
  ["gemm_fusion_dot_general_11","matmul",1,8000000,1,8000000]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]},
{"view":"overview","part":"hot","traces":["device_nosteps.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"functions by CPU time","unit":"","type":"text"},
  {"name":"place","label":"line","unit":"","type":"text"},
  {"name":"self_share","label":"self","unit":"ratio","type":"real","sums":"self_ns","whole":400000000},
  {"name":"self_error","label":"+-","unit":"ratio","type":"real","of":"the CPU time in scope"},
  {"name":"total_share","label":"total","unit":"ratio","type":"real","sums":"total_ns","whole":400000000},
  {"name":"samples","label":"samples","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"}],
 "rows":[
  ["cache_miss","pjit.py:263",1,0.0605775221,1,40,400000000,400000000]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]},
{"view":"overview","part":"actions","traces":["device_nosteps.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"named ranges by self time","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"share","label":"of wall","unit":"ratio","type":"real","sums":"self_ns","whole":542000000},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"}],
 "rows":[
  ["XlaCompile jit_step",1,401000000,0.739852399,401000000],
  ["XlaPassPipeline simplification",12,36000000,0.0664206642,3000000],
  ["XlaModule jit_step",21,21000000,0.0387453875,1000000]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":["  -> dwell.step() at an iteration's end, or dwell run --step-on NAME, shows what a step takes; the range XlaModule jit_step, which occurs 21 times, may be one: --step-on 'XlaModule:*=jit_step,*'","Trust: nothing is lost; 40 samples stand for 400 ms of CPU time.","Next: dwell view device_nosteps.dwell (timeline); dwell report --format html -o r.html (a page), --limit 20, --view device|hot|waits|account|actions; all: dwell report --help"]}
]}

$ trace profiles && dwell report profiles.dwell --profile late
Only profile late.
app: 13.0 ms, 12 ranges. No steps are marked.
NOTE   For 53.8% of it no range of the main thread is open: what it does then
       was not recorded.
TRY    DWELL_ZONE("name") around its parts names them; gcc
       -finstrument-functions and dwell run --functions record all functions

  main thread     ms  of wall  calls
  matmul        6.00    46.2%      2
  in no range   7.00    53.8%
  all          13.00   100.0%

  operators by self time  calls    self  of all     p99
  matmul                      2  4.00ms   28.6%  3.00ms
  pooled                      4  4.00ms   28.6%  1.00ms
  apart                       4  4.00ms   28.6%  1.00ms
  gemm                        2  2.00ms   14.3%  1.00ms

TRY    DWELL_STEP() around an iteration shows what a step takes
Trust: nothing is lost.
Next:  dwell view profiles.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view operators|tree|threads; all: dwell
       report --help

$ trace empty && dwell report empty.dwell --view overview
Nothing was recorded.
TRY    a program says what it does with the probes of <dwell/probe.h>, or
       through a library that has them; compiled with -finstrument-functions,
       dwell run --functions records its functions
Trust: nothing is lost.

$ dwell report empty.dwell --format json
{"dwell":1,"views":[
{"view":"overview","part":"run","traces":["empty.dwell"],"scope":{},
 "columns":[
  {"name":"wall_ns","label":"wall","unit":"ns","type":"int"},
  {"name":"records","label":"records","unit":"count","type":"int"},
  {"name":"ranges","label":"ranges","unit":"count","type":"int"},
  {"name":"cost_share","label":"profiling","unit":"ratio","type":"real","of":"the recorded time"},
  {"name":"steps","label":"steps","unit":"count","type":"int"},
  {"name":"steps_recorded","label":"steps recorded","unit":"count","type":"int"},
  {"name":"steps_ns","label":"in steps","unit":"ns","type":"int"},
  {"name":"loops_ns","label":"loops","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"a step","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p95_ns","label":"p95","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"slowest_step","label":"slowest step","unit":"","type":"int"},
  {"name":"slowest_ns","label":"slowest","unit":"ns","type":"int"},
  {"name":"verdict","label":"verdict","unit":"","type":"text"},
  {"name":"verdict_share","label":"its share","unit":"ratio","type":"real","of":"what the verdict names"}],
 "rows":[
  [0,0,0,null,null,null,null,null,null,null,null,null,null,null,null,null]],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["Nothing was recorded.","  -> a program says what it does with the probes of <dwell/probe.h>, or through a library that has them; compiled with -finstrument-functions, dwell run --functions records its functions"],
 "notes":["Trust: nothing is lost."]}
]}

$ trace figures_named && dwell report figures_named.dwell --view overview
lm: 6 steps in 60.0 ms, 10.00 ms a step (p50 10.00, p95 10.00).
SLOW   The range tokenize takes 50% of the loop.
TRY    ranges within it show which of its parts takes the time; do what is no
       training every n-th step or in another thread
LOOK   dwell report --view tree

  a step         ms  of the loop
  tokenize     5.00        50.0%
  fwd          2.00        20.0%
  operators    1.00        10.0%
  sgd_update   1.00        10.0%
  epoch        0.67         6.7%
  other        0.33         3.3%
  all         10.00       100.0%

  operators by self time  calls/step  self/step  of the loop     p99
  conv                          1.67     1.67ms        16.7%  1.00ms

NOTE   Outside the loop: 10.0 ms of start-up.
Trust: nothing is lost; profiling cost about 0.1% of the loop (5.33 us a step).
Next:  dwell view figures_named.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view steps|operators|actions|phases|tree;
       all: dwell report --help

$ dwell report figures_named.dwell --format json
{"dwell":1,"views":[
{"view":"overview","part":"run","traces":["figures_named.dwell"],"scope":{},
 "columns":[
  {"name":"wall_ns","label":"wall","unit":"ns","type":"int"},
  {"name":"records","label":"records","unit":"count","type":"int"},
  {"name":"ranges","label":"ranges","unit":"count","type":"int"},
  {"name":"cost_share","label":"profiling","unit":"ratio","type":"real","of":"the recorded time"},
  {"name":"steps","label":"steps","unit":"count","type":"int"},
  {"name":"steps_recorded","label":"steps recorded","unit":"count","type":"int"},
  {"name":"steps_ns","label":"in steps","unit":"ns","type":"int"},
  {"name":"loops_ns","label":"loops","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"a step","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p95_ns","label":"p95","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"slowest_step","label":"slowest step","unit":"","type":"int"},
  {"name":"slowest_ns","label":"slowest","unit":"ns","type":"int"},
  {"name":"verdict","label":"verdict","unit":"","type":"text"},
  {"name":"verdict_share","label":"its share","unit":"ratio","type":"real","of":"what the verdict names"}],
 "rows":[
  [70000000,66,33,0.000533333333,6,6,60000000,60000000,10000000,10000000,10000000,10000000,0,10000000,"named-part",0.5]],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["lm: 6 steps in 60.0 ms, 10.00 ms a step (p50 10.00, p95 10.00).","The range tokenize takes 50% of the loop.","  -> ranges within it show which of its parts takes the time; do what is no training every n-th step or in another thread","  -> dwell report --view tree"],
 "notes":[]},
{"view":"overview","part":"breakdown","traces":["figures_named.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"a step","unit":"","type":"text"},
  {"name":"per_step_ns","label":"","unit":"ns","type":"real"},
  {"name":"share","label":"of the loop","unit":"ratio","type":"real","sums":"per_step_ns","whole":10000000}],
 "rows":[
  ["tokenize",5000000,0.5],
  ["fwd",2000000,0.2],
  ["operators",1000000,0.1],
  ["sgd_update",1000000,0.1],
  ["epoch",666666.667,0.0666666667],
  ["other",333333.333,0.0333333333]],
 "totals":{"per_step_ns":10000000,"share":1},
 "coverage":1,"losses":[],
 "notes":[]},
{"view":"overview","part":"operators","traces":["figures_named.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"operators by self time","unit":"","type":"text"},
  {"name":"calls_per_step","label":"calls/step","unit":"count","type":"real"},
  {"name":"self_per_step_ns","label":"self/step","unit":"ns","type":"real"},
  {"name":"share","label":"of the loop","unit":"ratio","type":"real","sums":"self_per_step_ns","whole":10000000},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"}],
 "rows":[
  ["conv",1.66666667,1666666.67,0.166666667,1000000]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":["Outside the loop: 10.0 ms of start-up.","Trust: nothing is lost; profiling cost about 0.1% of the loop (5.33 us a step).","Next: dwell view figures_named.dwell (timeline); dwell report --format html -o r.html (a page), --limit 20, --view steps|operators|actions|phases|tree; all: dwell report --help"]}
]}

$ dwell report figures_named.dwell --steps 4..5
Only steps 4..5.
lm: 2 steps in 20.0 ms, 10.00 ms a step (p50 10.00, p95 10.00).
SLOW   The range tokenize takes 50% of the loop.
TRY    ranges within it show which of its parts takes the time; do what is no
       training every n-th step or in another thread
LOOK   dwell report --view tree
WORK   10% of a steady step lies in no named range.
TRY    DWELL_ZONE("name") around its parts shows which

  a step         ms  of the loop
  tokenize     5.00        50.0%
  fwd          2.00        20.0%
  operators    1.00        10.0%
  sgd_update   1.00        10.0%
  other        1.00        10.0%
  all         10.00       100.0%

  operators by self time  calls/step  self/step  of the loop     p99
  conv                             1     1.00ms        10.0%  1.00ms

Trust: nothing is lost; profiling cost less than 0.1% of the loop.
Next:  dwell view figures_named.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view steps|operators|actions|phases|tree;
       all: dwell report --help

$ trace figures_threads && dwell report figures_threads.dwell --view overview
omp: 12 steps of 3 threads in 40.0 ms each, 28.6% of the run, 10.00 ms a step (p50 10.00, p95 10.00).
SLOW   What follows the last step takes 71% of the run. 100% of it lies in no
       named range.
TRY    DWELL_ZONE("name") around its parts shows which
LOOK   dwell report --view hot
WORK   One operator, gemm, takes 60% of the loop: 1 call a step.
TRY    call it less often, once, or on less data (dwell report --view operators)
WORK   40% of the loop lies in no named range.
TRY    DWELL_ZONE("name") around its parts shows which

  a step, mean of 3 threads     ms  of the loop
  operators                   6.00        60.0%
  other                       4.00        40.0%
  all                        10.00       100.0%

  operators by self time     calls/step  self/step  of the loop     p99
  gemm_part (other threads)       0.667     6.67ms
  gemm                                1     6.00ms        60.0%  6.00ms

(other threads): at the same time as the steps, no part of their time.
NOTE   Outside the loops, as sums: 100 ms after the last step.
Trust: nothing is lost.
Next:  dwell view figures_threads.dwell (timeline); dwell report --format html
       -o r.html (a page), --limit 20, --view steps|operators|phases|tree|
       threads; all: dwell report --help

$ trace figures_newest && dwell report figures_newest.dwell --view overview
ring: 10 steps in 100 ms, 10.00 ms a step (p50 10.00, p95 10.00).
NOTE   1 more step did not end and is not counted.
NOTE   Records are missing in 7 steps; the figures are of the 3 steps without
       missing records.
WORK   50% of the loop lies in no named range.
TRY    DWELL_ZONE("name") around its parts shows which

  a step     ms  of the loop
  outer    5.00        50.0%
  other    5.00        50.0%
  all     10.00       100.0%

  named ranges by self time  calls/step  self/step  of the loop     p99
  outer                               5     5.00ms        50.0%  1.00ms

Trust: records are lost.
       Lost: 70 records: the middle was overwritten to stay within --max-size.
       Recorded: 32.0% of this time.
Next:  dwell view figures_newest.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view steps|actions|phases|tree|threads;
       all: dwell report --help

$ trace figures_oldest && dwell report figures_oldest.dwell --view overview
ring: 10 steps in 100 ms, 10.00 ms a step (p50 10.00, p95 10.00).
NOTE   Records are missing in 8 steps; the figures are of the 2 steps without
       missing records.
WORK   50% of the loop lies in no named range.
TRY    DWELL_ZONE("name") around its parts shows which

  a step     ms  of the loop
  outer    5.00        50.0%
  other    5.00        50.0%
  all     10.00       100.0%

  named ranges by self time  calls/step  self/step  of the loop     p99
  outer                               5     5.00ms        50.0%  1.00ms

Trust: records are lost.
       Lost: 70 records: the trace reached --max-size.
       Recorded: 29.0% of this time.
Next:  dwell view figures_oldest.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view steps|actions|phases|tree|threads;
       all: dwell report --help

$ trace figures_both && dwell report figures_both.dwell
ring: 100 ms, 20 ranges. No steps are marked.
NOTE   outer recurs: it begins 20 iterations of 4.95 ms on average.

  main thread      ms  of wall  calls
  outer          20.0    20.0%     20
  not recorded   60.0    60.0%
  in no range    20.0    20.0%
  all           100.0   100.0%

  named ranges by self time  calls    self  of wall     p99
  outer                         20  20.0ms    20.0%  1.00ms

Trust: records are lost.
       Lost: 1,000 records: the middle was overwritten to stay within
       --max-size.
       Recorded: 40.0% of this time.
Next:  dwell view figures_both.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view actions|tree|threads; all: dwell
       report --help

$ trace recorders && dwell report recorders.dwell --view overview
empty: 10.0 ms, 10 ranges. No steps are marked.
NOTE   empty recurs: it begins 5 iterations of 2.00 ms on average, of 10 calls
       in the run.
ALSO   Recording takes about 100% of the loop: without it, steps are that much
       shorter.
TRY    record a part of the steps, or fewer details

  main thread    ms  of wall  calls
  empty        10.0   100.0%      5
  all          10.0   100.0%

  named ranges by self time  calls    self  of all     p99
  empty                         10  20.0ms  100.0%  2.00ms

Trust: nothing is lost; profiling cost about 100.0% of the run.
Next:  dwell view recorders.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view actions|tree|threads; all: dwell
       report --help

$ trace figures_functions && dwell report figures_functions.dwell
llm: 100 ms, 9 ranges. No steps are marked.

  main thread     ms  of wall  calls
  main         100.0   100.0%      1
  all          100.0   100.0%

  functions by self time  calls    self  of wall     p99
  matmul                      4  60.0ms    60.0%  15.0ms
  main                        1  20.0ms    20.0%   100ms
  softmax                     4  20.0ms    20.0%  5.00ms

TRY    DWELL_STEP() around an iteration shows what a step takes
Trust: nothing is lost.
Next:  dwell view figures_functions.dwell (timeline); dwell report --format html
       -o r.html (a page), --limit 20, --view functions|tree|threads; all: dwell
       report --help

$ trace figures_layers && dwell report figures_layers.dwell
tiny: 4 steps in 40.0 ms, 10.0 ms a step (p50 10.0, p95 10.0).
WORK   Work takes 100% of the loop, and no wait or overhead stands out.

  a step    ms  of the loop
  layers  10.0       100.0%
  all     10.0       100.0%

  layers by self time  calls/step  self/step  of the loop     p99
  net.conv                      1     9.00ms        90.0%  9.00ms
  net.fc                        1     1.00ms        10.0%  1.00ms

Trust: nothing is lost.
Next:  dwell view figures_layers.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view steps|layers|phases|tree|threads;
       all: dwell report --help

$ trace figures_cost && dwell report figures_cost.dwell
train: 5 steps in 100 ms, 20.0 ms a step (p50 20.0, p95 20.0).
SLOW   The thread does not run for 46% of the loop: it waits, or has no CPU; the
       kernel does not say which.
TRY    find the sleep, the lock, the file or the answer of another program that
       it waits for: at most 9.2 ms a step, 46%
LOOK   dwell report --view steps
SLOW   The interpreter of Python may take 21% of the loop.
TRY    operations on whole arrays in place of loops, or work once instead of in
       every pass: at most 4.2 ms a step, 21% (dwell run --sample 100 tells
       which functions)
       These two differ by less than they vary from step to step.
WORK   One operator, mm, takes 50% of the loop: 10 calls a step.
TRY    call it less often, once, or on less data (dwell run --shapes tells which
       calls)
ALSO   Recording takes about 9% of the loop: without it, steps are that much
       shorter.
TRY    record a part of the steps, or fewer details
ALL    together: at most 13.3 ms a step, 67%.

  main thread          time  share
  unknown            45.8ms  45.8%
  runs               25.0ms  25.0%
  runs: interpreter  20.8ms  20.8%
  profiler           8.40ms   8.4%
  all                 100ms

  operators by self time  calls/step  self/step  of the loop     p99
  mm                              10     10.0ms        50.0%  1.00ms

Trust: nothing is lost; profiling cost about 8.6% of the loop (1.71 ms a step,
       31.0 us of it within other parts).
Next:  dwell view figures_cost.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view steps|operators|layers|phases|tree;
       all: dwell report --help

$ trace figures_cupti && dwell report figures_cupti.dwell
train.py: 4 steps in 4.00 ms, 1.00 ms a step (p50 1.00, p95 1.00).
SLOW   The device is idle for 50% of a steady step, for 41% because the host
       submits its work too late.
TRY    fewer and larger kernels, larger batches, or graphs that are submitted at
       once: at most 406 us a step, 41%
LOOK   dwell report --view device

  the device                  us  of a steady step
  compute                  500.0             50.0%
  idle: host late          406.0             40.6%
  idle: launch latency      19.0              1.9%
  idle: nothing submitted   75.0              7.5%

NOTE   Outside the loop: 10.0 us of start-up.
Trust: nothing is lost; profiling cost about 0.1% of the loop (1.00 us a step).
       What CUPTI's own work makes a step longer is not in it: too few recorded
       and unrecorded steps alternate.
Next:  dwell view figures_cupti.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view steps|device|phases|tree|threads;
       all: dwell report --help

# It is named with its time, and what is known of the others follows.
$ trace brief && dwell report brief.dwell --view overview
train: 10 steps in 96.0 ms, 9.60 ms a step (p50 2.00, p95 20.00).
NOTE   Operators and layers were recorded in 1 of the steps, chosen at random so
       that recording costs little (--cost full: in all); the figures are of
       these.
SLOW   Slow steps, 10% of all, may take 60% of the loop beyond the usual time.
TRY    the view steps lists them with what took longer: at most 5.80 ms a step,
       60%
LOOK   dwell report --view steps
ALSO   Warm-up of 1 step: 20.0 ms, 19% of the loop beyond the usual time.

  a step     ms  of the loop
  forward  4.80        50.0%
  python   4.80        50.0%
  all      9.60       100.0%

  operators by self time  calls/step  self/step  of the loop     p99
  mm                               1     4.80ms        50.0%  10.0ms

NOTE   Slowest: step 9 took 60.0 ms, 30.0 times the median (only begin and end
       were recorded). Of steps recorded whole: step 0 took 20.0 ms, 10.0 ms
       longer than usual in mm (dwell report --view steps).
Trust: nothing is lost.
Next:  dwell view brief.dwell (timeline); dwell report --format html -o r.html
       (a page), --limit 20, --view steps|operators|layers|actions|phases; all:
       dwell report --help

$ trace reduced && dwell report reduced.dwell --view overview
train: 10 steps in 209 ms, 20.9 ms a step (p50 21.0, p95 21.0).
NOTE   Operators and layers were recorded in 2 of the steps, chosen at random so
       that recording costs little (--cost full: in all); the figures are of
       these.
WORK   One operator, mm, may take 48% of the loop: 10 calls a step.
TRY    call it less often, once, or on less data
LOOK   dwell run --shapes tells which calls

  a step           ms  of the loop
  forward        10.0        47.8%
  python         10.0        47.8%
  operators       0.5         2.2%
  between steps   0.5         2.2%
  all            20.9       100.0%

  operators by self time  calls/step  self/step  of the loop     p99
  mm                              10     10.0ms        47.8%  1.00ms
  item                           0.9      450us         2.2%

NOTE   Outside the loop: 1.00 ms after the last step.
Trust: nothing is lost; profiling cost about 1.9% of the loop (400 us a step).
Next:  dwell view reduced.dwell (timeline); dwell report --format html -o r.html
       (a page), --limit 20, --view steps|operators|layers|actions|phases; all:
       dwell report --help

$ trace verdict_python && dwell report verdict_python.dwell
python3: 4 steps in 80.0 ms, 20.0 ms a step (p50 20.0, p95 20.0).
SLOW   The interpreter of Python may take 50% of the loop.
TRY    operations on whole arrays in place of loops, or work once instead of in
       every pass: at most 10.0 ms a step, 50%
LOOK   dwell run --sample 100 tells which functions
WORK   One operator, aten::linear, takes 50% of the loop: 1 call a step.
TRY    call it less often, once, or on less data (dwell run --shapes tells which
       calls)

  main thread          time  share
  runs               40.0ms  50.0%
  runs: interpreter  40.0ms  50.0%
  all                80.0ms

  operators by self time  calls/step  self/step  of the loop     p99
  aten::linear                     1     10.0ms        50.0%  10.0ms

NOTE   Outside the loop: 10.0 ms of start-up.
Trust: nothing is lost; profiling cost less than 0.1% of the loop.
Next:  dwell view verdict_python.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view steps|operators|actions|phases|tree;
       all: dwell report --help

$ trace verdict_small && dwell report verdict_small.dwell
python3: 4 steps in 32.0 ms, 8.00 ms a step (p50 8.00, p95 8.00).
WORK   1,000 small operators a step, 4.00 us each, may take 100% of the loop
       with the calls between them.
TRY    fewer and larger ones: whole tensors in place of loops over rows, larger
       batches, torch.compile, a fused optimizer: at most 8.00 ms a step, 100%
LOOK   dwell report --view operators --sort calls
WORK   One operator, aten::add_, takes 50% of the loop: 1,000 calls a step.
TRY    call it less often, once, or on less data (dwell run --shapes tells which
       calls)

  a step       ms  of the loop
  operators  4.00        50.0%
  python     4.00        50.0%
  all        8.00       100.0%

  operators by self time  calls/step  self/step  of the loop     p99
  aten::add_                   1,000     4.00ms        50.0%  4.00us

NOTE   Outside the loop: 10.0 ms of start-up.
Trust: nothing is lost; profiling cost about 1.0% of the loop (80.0 us a step).
Next:  dwell view verdict_small.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view steps|operators|phases|tree|threads;
       all: dwell report --help

$ trace verdict_operator && dwell report verdict_operator.dwell
python3: 4 steps in 80.0 ms, 20.0 ms a step (p50 20.0, p95 20.0).
WORK   One operator, aten::sort, takes 80% of the loop: 1 call a step.
TRY    only what is needed of an order or a decomposition: torch.topk() for the
       first ones, torch.linalg.solve() for an inverse; or call it less often,
       once, or on less data
LOOK   dwell run --shapes tells which calls
SLOW   The interpreter of Python may take 10% of the loop.
TRY    operations on whole arrays in place of loops, or work once instead of in
       every pass: at most 2.0 ms a step, 10% (dwell run --sample 100 tells
       which functions)

  a step       ms  of the loop
  operators  18.0        90.0%
  python      2.0        10.0%
  all        20.0       100.0%

  operators by self time  calls/step  self/step  of the loop     p99
  aten::sort                       1     16.0ms        80.0%  16.0ms
  aten::linear                     1     2.00ms        10.0%  2.00ms

NOTE   Outside the loop: 10.0 ms of start-up.
Trust: nothing is lost; profiling cost less than 0.1% of the loop.
Next:  dwell view verdict_operator.dwell (timeline); dwell report --format html
       -o r.html (a page), --limit 20, --view steps|operators|phases|tree|
       threads; all: dwell report --help

$ trace verdict_idle && dwell report verdict_idle.dwell
python3: 4 steps in 80.0 ms, 20.0 ms a step (p50 20.0, p95 20.0).
SLOW   The thread does not run for 47% of the loop: it waits, or has no CPU; the
       kernel does not say which.
TRY    find the sleep, the lock, the file or the answer of another program that
       it waits for: at most 9.3 ms a step, 47%
LOOK   dwell report --view steps
SLOW   The interpreter of Python may take 25% of the loop.
TRY    operations on whole arrays in place of loops, or work once instead of in
       every pass: at most 5.0 ms a step, 25% (dwell run --sample 100 tells
       which functions)
SLOW   Garbage collection takes 15% of the loop.
TRY    gc.freeze() once the model and the data are made, or gc.disable() and a
       gc.collect() now and then: at most 3.0 ms a step, 15% (dwell report
       --view gc)
ALL    together: at most 17.3 ms a step, 86%.

  main thread          time  share
  unknown            37.4ms  46.8%
  runs: interpreter  19.8ms  24.8%
  collector          12.0ms  15.0%
  runs               10.8ms  13.5%
  all                80.0ms

  operators by self time  calls/step  self/step  of the loop     p99
  aten::linear                     1     6.00ms        30.0%  6.00ms

NOTE   Outside the loop: 10.0 ms of start-up.
Trust: nothing is lost; profiling cost less than 0.1% of the loop.
Next:  dwell view verdict_idle.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view steps|operators|phases|tree|threads;
       all: dwell report --help

$ trace verdict_device && dwell report verdict_device.dwell
python3: 4 steps in 80.0 ms, 20.0 ms a step (p50 20.0, p95 20.0).
NOTE   Device time not recorded: operator times are launch and wait times.
SLOW   The interpreter of Python may take 10% of the loop.
TRY    operations on whole arrays in place of loops, or work once instead of in
       every pass: at most 2.0 ms a step, 10%
LOOK   dwell run --sample 100 tells which functions

  main thread          time  share
  runs               72.0ms  90.0%
  runs: interpreter  8.00ms  10.0%
  all                80.0ms

  operators by self time  calls/step  self/step  of the loop     p99
  aten::sort                       1     16.0ms        80.0%  16.0ms
  aten::linear                     1     2.00ms        10.0%  2.00ms

NOTE   Outside the loop: 10.0 ms of start-up.
Trust: nothing is lost; profiling cost less than 0.1% of the loop.
Next:  dwell view verdict_device.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view steps|operators|phases|tree|threads;
       all: dwell report --help

$ trace verdict_growth && dwell report verdict_growth.dwell
python3: 12 steps in 48.0 ms, 4.00 ms a step (p50 4.00, p95 4.00).
WORK   One operator, aten::mul, takes 50% of the loop: 1 call a step.
TRY    call it less often, once, or on less data
LOOK   dwell run --shapes tells which calls
RISK   Memory grows by 2.01 MiB with each step on cpu, most of it made by
       aten::mul.
TRY    something keeps what each step made: losses kept with their graphs are
       the usual cause; keep loss.item() or loss.detach()

  a step       ms  of the loop
  operators  4.00       100.0%
  all        4.00       100.0%

  operators by self time  calls/step  self/step  of the loop     p99
  aten::mul                        1     2.00ms        50.0%  2.00ms
  aten::sum                        1     2.00ms        50.0%  2.00ms

NOTE   Outside the loop: 10.0 ms of start-up.
Trust: nothing is lost; profiling cost less than 0.1% of the loop.
Next:  dwell view verdict_growth.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view steps|operators|memory|phases|tree;
       all: dwell report --help

$ trace agent && dwell report agent.dwell
agent: 12 steps in 120 ms, 10.00 ms a step (p50 8.00, p95 20.00).
SLOW   Slow steps, 17% of all, take 13% of the loop beyond the usual time.
TRY    the view steps lists them with what took longer: at most 1.33 ms a step,
       13%
LOOK   dwell report --view steps
SLOW   13% of the loop lies between the steps, in Python and waits.
TRY    do what not every step needs once, every n-th step, or in another thread:
       at most 1.33 ms a step, 13% (dwell report --view tree)
ALL    together: at most 2.67 ms a step, 27%.

  a step            ms  of the loop
  python          8.00        80.0%
  between steps   1.33        13.3%
  evaluation      0.67         6.7%
  all            10.00       100.0%

  named ranges by self time  calls/step  self/step  of the loop     p99
  backward                            2     4.00ms        40.0%  2.00ms
  forward                             2     2.00ms        20.0%  1.00ms
  Optimizer.step#Adam.step            2     2.00ms        20.0%  1.00ms

NOTE   Outside the loop: 8.00 ms of start-up, 14.0 ms of evaluation and 5.00 ms
       of checkpoints.
NOTE   A step has 2 optimizer steps.
NOTE   Phases of the loop, each with the data and waits before the next: acting
       20.0% (2 times), learning 80.0% (3 times).
NOTE   The run has 1 evaluation, 10.0 ms; 1 checkpoint, 5.00 ms.
Trust: nothing is lost.
Next:  dwell view agent.dwell (timeline); dwell report --format html -o r.html
       (a page), --limit 20, --view steps|actions|phases|tree|threads; all:
       dwell report --help

# A step that took longer because its thread had no CPU.
$ trace no_cpu && dwell report no_cpu.dwell
train: 10 steps in 135 ms, 13.5 ms a step (p50 10.0, p95 30.0).
SLOW   Slow steps, 10% of all, take 13% of the loop beyond the usual time, most
       of it in operators.
TRY    the view steps lists them with what took longer: at most 1.5 ms a step,
       13%
LOOK   dwell report --view steps
WORK   One operator, mm, takes 93% of the loop: 1 call a step.
TRY    call it less often, once, or on less data (dwell report --view operators)

  a step        ms  of the loop
  operators   10.7        92.7%
  other        0.8         7.3%
  has no CPU   2.0
  all         13.5       100.0%

  operators by self time  calls/step  self/step  of the loop     p99
  mm                               1     10.6ms        92.6%  29.0ms

NOTE   Slowest: step 4 took 30.0 ms, 20.0 ms longer than usual in waiting for a
       CPU (dwell report --view steps).
Trust: nothing is lost.
       The steps' thread waited for a CPU for 15% of its time: other programs or
       threads had it. Times are not this thread's alone.
Next:  dwell view no_cpu.dwell (timeline); dwell report --format html -o r.html
       (a page), --limit 20, --view steps|operators|phases|tree|threads; all:
       dwell report --help

$ trace samples_addresses && dwell report samples_addresses.dwell
engine: 1.21 s, 1.5 of 8 CPUs in use. No steps are marked.
WORK   Code of libraries takes 80% of the run.
LOOK   dwell report --view hot
ALSO   The CPU time of thread poll is all in one loop, code without a name in
       engine: it may spin while it waits.

  main thread              largest part in  line   time  share    +-  samples
  runs: code of libraries                         964ms  79.8%  0.6%      241
  unknown                                         244ms  20.2%
  all                                             1.21s

  functions by CPU time  line   self    +-  total  samples
  engine+0x99                  45.1%  4.6%  45.1%      200
  libwork.so+0x4d50            40.6%  4.6%  40.6%      180
  libwork.so+0x4d90            13.5%  3.2%  13.5%       60
  (stack not read)              0.5%  0.9%   0.5%        1
  engine+0x77                   0.2%  0.7%   0.2%        1

TRY    DWELL_STEP() around an iteration shows what a step takes
Trust: nothing is lost; 442 samples stand for 1.77 s of CPU time.
Next:  dwell view samples_addresses.dwell (timeline); dwell report --format html
       -o r.html (a page), --limit 20, --view hot|waits|account|tree|threads;
       all: dwell report --help

$ trace startup && dwell report startup.dwell
train.py: 10 steps in 109 ms, 13.0% of the run, 10.9 ms a step (p50 11.0, p95 11.0).
SLOW   Start-up takes 73% of the run (611 ms): importing torch 300 ms, Python
       200 ms in load_images (train.py:40), importing pandas 100 ms.
SLOW   The interpreter of Python may take 100% of the loop.
TRY    operations on whole arrays in place of loops, or work once instead of in
       every pass: at most 10.9 ms a step, 100%
LOOK   dwell run --sample 100 tells which functions

  the run                     largest part in  line           time  of the run
  start-up: importing torch   <module>         train.py:1    300ms       35.7%
  start-up: Python            load_images      train.py:40   200ms       23.8%
  start-up: importing pandas  <module>         train.py:2    100ms       11.9%
  start-up: not known                                       11.0ms        1.3%
  steps                                                      109ms       13.0%
  end: garbage collection                                    111ms       13.2%
  end: Python                 forward          model.py:14  9.23ms        1.1%
  all                                                        840ms      100.0%

  main thread        largest part in  line          time   share     +-  samples
  runs: interpreter  forward          model.py:14  109ms  100.0%  43.7%        9
  all                                              109ms

  named ranges by self time  calls/step  self/step  of the loop     p99
  forward                             1     10.0ms        91.7%  10.0ms

Trust: nothing is lost.
Next:  dwell view startup.dwell (timeline); dwell report --format html -o r.html
       (a page), --limit 20, --view steps|hot|waits|account|actions; all: dwell
       report --help

$ trace startup && dwell report --format csv startup.dwell
wall_ns,records,ranges,cost_share,steps,steps_recorded,steps_ns,loops_ns,mean_ns,p50_ns,p95_ns,p99_ns,slowest_step,slowest_ns,verdict,verdict_share
840000000,102,10,,10,10,100000000,109000000,10900000,11000000,11000000,11000000,0,10000000,python,1

part,function,line,ns,share,samples,phase
start-up: importing torch,<module>,train.py:1,300000000,0.357142857,30,start-up
start-up: Python,load_images,train.py:40,200000000,0.238095238,20,start-up
start-up: importing pandas,<module>,train.py:2,100000000,0.119047619,10,start-up
start-up: not known,,,11000000,0.0130952381,,start-up
steps,,,109000000,0.129761905,,steps
end: garbage collection,,,110769231,0.131868132,12,end
end: Python,forward,model.py:14,9230769.23,0.010989011,1,end

name,per_step_ns,share
python,10000000,0.917431193
between steps,900000,0.0825688073

does,function,line,ns,share,error,samples,state,activity
runs: interpreter,forward,model.py:14,109000000,1,0.437008555,9,runs,interpreter

name,calls_per_step,self_per_step_ns,share,p99_ns
forward,1,10000000,0.917431193,10000000

# Devices were recorded in bursts: what that costs a step is the difference of recorded steps and others.
$ trace device_bursts && dwell report device_bursts.dwell
train.py: 128 steps in 1.35 s, 10.5 ms a step (p50 10.0, p95 12.2).
NOTE   The work of devices was recorded in 28.7% of the time, in bursts chosen
       at random so that recording costs little (--cost full: all the time); its
       figures are of these.
SLOW   The device is idle for 70% of a steady step, for 70% it is not known why:
       the calls that submitted its work are not recorded.
LOOK   dwell report --view device

  a step    ms  of the loop
  launch   0.0         0.1%
  other   10.5        99.9%
  all     10.5       100.0%

  the device             ms  of a steady step
  compute              3.00             30.0%
  idle: not known why  6.99             70.0%

  named ranges by self time  calls/step  self/step  of the loop     p99
  launch                              1     10.0us         0.1%  10.0us

Trust: nothing is lost; profiling cost about 3.7% of the loop (394 us a step).
       Recorded steps take 2.10 ms longer than others (95% interval 2.01 ms to
       2.19 ms; 24 and 88 steps); the device's figures are without that.
Next:  dwell view device_bursts.dwell (timeline); dwell report --format html -o
       r.html (a page), --limit 20, --view steps|device|actions|phases|tree;
       all: dwell report --help

$ trace hang && dwell report hang.dwell
train: 20 steps of 2 processes in 110 ms each, 0.7% of the run, 10.95 ms a step (p50 11.00, p95 11.00).
NOTE   1 more step did not end and is not counted.
STOP   The job hangs: rank 0 waits in all_reduce, for 14.8 s.
       Rank 1 did not enter it: it is outside all recorded ranges, after step 9,
       without a record for 14.8 s.
SLOW   Communication takes 9% of the loop.
TRY    larger batches, or sums over several steps, save transfers: at most 1.00
       ms a step, 9%
LOOK   dwell report --view steps shows what each rank does

  a step, mean of 2 processes     ms  of the loop
  backward                      4.00        36.5%
  forward                       4.00        36.5%
  communication                 1.00         9.1%
  operators                     1.00         9.1%
  between steps                 0.95         8.7%
  all                          10.95       100.0%

  operators by self time  calls/step  self/step  of the loop     p99
  sgd_update                       1     1.00ms         9.1%  1.00ms

NOTE   Outside the loops, as sums: 202 ms of start-up.
Trust: nothing is lost.
Next:  dwell view hang.dwell (timeline); dwell report --format html -o r.html (a
       page), --limit 20, --view stragglers|steps|operators|actions|phases; all:
       dwell report --help
