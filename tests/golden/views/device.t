$ trace device && dwell report device.dwell --view device --format json
{"dwell":1,"views":[
{"view":"device","part":"division","traces":["device.dwell"],"scope":{},
 "columns":[
  {"name":"part","label":"part","unit":"","type":"text"},
  {"name":"device","label":"device","unit":"","type":"text"},
  {"name":"ns","label":"time","unit":"ns","type":"int"},
  {"name":"step_ns","label":"a step","unit":"ns","type":"real"},
  {"name":"share","label":"share","unit":"ratio","type":"real","sums":"ns","whole":310000},
  {"name":"host","label":"the host is mostly in","unit":"","type":"text"}],
 "rows":[
  ["compute","NVIDIA A100 0",106000,53000,0.341935484,null],
  ["communication","NVIDIA A100 0",80000,40000,0.258064516,null],
  ["copy","NVIDIA A100 0",10000,5000,0.0322580645,null],
  ["idle: host late","NVIDIA A100 0",12000,6000,0.0387096774,null],
  ["idle: synchronising call","NVIDIA A100 0",26000,13000,0.0838709677,null],
  ["idle: launch latency","NVIDIA A100 0",35000,17500,0.112903226,null],
  ["idle: not known why","NVIDIA A100 0",20000,10000,0.064516129,null],
  ["idle: before its first work","NVIDIA A100 0",13000,6500,0.0419354839,"forward"],
  ["idle: nothing submitted","NVIDIA A100 0",8000,4000,0.0258064516,null]],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["NVIDIA A100 0: busy 63.2% of 2 steps, 155 us a step on the wall clock."],
 "notes":["2 events: the call that submitted them is not in the trace.","Times of devices and of the host may differ by 500 ns."]},
{"view":"device","part":"devices","traces":["device.dwell"],"scope":{},
 "columns":[
  {"name":"device","label":"device","unit":"","type":"text"},
  {"name":"events","label":"events","unit":"count","type":"int"},
  {"name":"first_ns","label":"first","unit":"ns","type":"int"},
  {"name":"last_ns","label":"last","unit":"ns","type":"int"},
  {"name":"span_ns","label":"span","unit":"ns","type":"int"},
  {"name":"compute_ns","label":"compute","unit":"ns","type":"int"},
  {"name":"communication_ns","label":"communication","unit":"ns","type":"int"},
  {"name":"copy_ns","label":"copy","unit":"ns","type":"int"},
  {"name":"idle_ns","label":"idle","unit":"ns","type":"int"},
  {"name":"hidden_ns","label":"communication hidden","unit":"ns","type":"int"},
  {"name":"only_compute_ns","label":"only compute","unit":"ns","type":"int"},
  {"name":"only_communication_ns","label":"only communication","unit":"ns","type":"int"},
  {"name":"compute_communication_ns","label":"compute, communication","unit":"ns","type":"int"},
  {"name":"only_copy_ns","label":"only copy","unit":"ns","type":"int"},
  {"name":"compute_copy_ns","label":"compute, copy","unit":"ns","type":"int"},
  {"name":"communication_copy_ns","label":"communication, copy","unit":"ns","type":"int"},
  {"name":"all_classes_ns","label":"all","unit":"ns","type":"int"}],
 "rows":[
  ["NVIDIA A100 0",10,18000,312000,294000,106000,80000,14000,97000,0,103000,80000,0,11000,3000,0,0]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]},
{"view":"device","part":"synchronising calls","traces":["device.dwell"],"scope":{},
 "columns":[
  {"name":"call","label":"synchronising call","unit":"","type":"text"},
  {"name":"operator","label":"in operator","unit":"","type":"text"},
  {"name":"times","label":"times","unit":"count","type":"int"},
  {"name":"idle_ns","label":"device idle","unit":"ns","type":"int"},
  {"name":"share","label":"of the wall time","unit":"ratio","type":"real","of":"the wall time"}],
 "rows":[
  ["cudaStreamSynchronize","aten::item",1,26000,0.0838709677]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report device.dwell --view device --steps 1
Only step 1.
NVIDIA A100 0: busy 39.1% of 1 step, 115 us a step on the wall clock.

  part                        time  a step us  share
  compute                   41.0us       41.0  35.7%
  copy                      4.00us        4.0   3.5%
  idle: host late           12.0us       12.0  10.4%
  idle: synchronising call  26.0us       26.0  22.6%
  idle: launch latency      24.0us       24.0  20.9%
  idle: nothing submitted   8.00us        8.0   7.0%

2 events: the call that submitted them is not in the trace.
Times of devices and of the host may differ by 500 ns.

  device         events  first   last    span  compute  communication    copy    idle  communication hidden
  NVIDIA A100 0       4  220us  312us  92.0us   41.0us              0  4.00us  47.0us                     0

  synchronising call     in operator  times  device idle  of the wall time
  cudaStreamSynchronize  aten::item       1       26.0us             22.6%

$ trace device_nosteps && dwell report device_nosteps.dwell --view device
NVIDIA H100 0: busy 1.5% of the run, 542 ms.

  part                           time  share
  compute                      8.00ms   1.5%
  idle: before its first work   510ms  94.1%
  idle: nothing submitted      24.0ms   4.4%

1 event: the call that submitted it is not in the trace.

  device         events  first   last    span  compute  communication  copy  idle  communication hidden
  NVIDIA H100 0       1  510ms  518ms  8.00ms   8.00ms              0     0     0                     0

$ trace energy && dwell report energy.dwell --view device | head -2
NVIDIA H100 80GB HBM3 0: busy 90.9% of 22 steps, 2.00 s a step on the wall clock.
Energy: 880 J a step, +-156 (95%), 440 W: of the whole device, over 4 windows of 10 s or more.

# Devices were recorded in bursts, which makes a recorded step longer.
$ trace device_bursts && dwell report device_bursts.dwell --view device | head -3
NOTE   The work of devices was recorded in 28.7% of the time, in bursts chosen at random so that recording costs little (--cost full: all the time); its figures are of these.
NVIDIA H100 0: busy 24.8% of 17 steps, 12.1 ms a step on the wall clock.
Without what recording adds (2.10 ms a step, 95% interval 2.01 ms to 2.19 ms) a step takes 9.99 ms, and the device is busy 30.0% of it (29.8% to 30.3%).

# What the device did is of the time until it ended, also where the host's events end long before.
$ trace device_late && dwell report device_late.dwell | grep -A1 -E "runs ahead|ALSO"
NOTE   The host runs ahead: the device ends its work 9.92 ms after the last that
       is known of the host.
--
ALSO   NVIDIA H100 0: busy for 10.0 ms, 99.7% of the run; 2 kernels take 10.0
       ms.
