$ trace places && dwell report places.dwell --view tree
call           total    self  calls    mean     p99  of thread  place
main          20.0ms                                    100.0%
  forward     20.0ms  7.00ms      1  20.0ms  20.0ms     100.0%  infer.c:40
    conv      10.0ms  10.0ms      4  2.50ms  4.00ms      50.0%  conv.c:120 and 2 more
    softmax   2.00ms  2.00ms      1  2.00ms  2.00ms      10.0%  softmax.c
    unplaced  1.00ms  1.00ms      1  1.00ms  1.00ms       5.0%

$ trace train && dwell report train.dwell --view tree --format json
{"dwell":1,"views":[
{"view":"tree","traces":["train.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"call","unit":"","type":"text"},
  {"name":"depth","label":"depth","unit":"","type":"int"},
  {"name":"category","label":"kind","unit":"","type":"text"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"share","label":"of thread","unit":"ratio","type":"real","of":"thread"}],
 "rows":[
  ["train",0,"thread",968500000,null,null,null,null,1],
  ["forward",1,"phase",360900000,20000000,40,9022500,48000000,0.3726381],
  ["conv2d",2,"operator",280900000,240000000,80,3511250,5046272,0.290036138],
  ["im2col",3,"operator",40900000,40900000,40,1022500,1100000,0.042230253],
  ["gc: generation 2",2,"collector",40000000,40000000,1,40000000,40000000,0.0413009809],
  ["relu",2,"operator",20000000,20000000,40,500000,500000,0.0206504904],
  ["backward",1,"phase",320000000,40000000,40,8000000,8000000,0.330407847],
  ["conv2d_backward",2,"operator",280000000,280000000,40,7000000,7000000,0.289106866],
  ["validate",1,"evaluation",90000000,10000000,1,90000000,90000000,0.092927207],
  ["conv2d",2,"operator",80000000,80000000,1,80000000,80000000,0.0826019618],
  ["next-batch",1,"data",80900000,80900000,40,2022500,2100000,0.0835312339],
  ["optimizer",1,"phase",62700000,20000000,40,1567500,1800000,0.0647392876],
  ["sgd",2,"operator",42700000,42700000,40,1067500,1300000,0.0440887971],
  ["load model",1,"zone",40000000,40000000,1,40000000,40000000,0.0413009809],
  ["save weights",1,"checkpoint",12000000,12000000,1,12000000,12000000,0.0123902943],
  ["write log",1,"zone",2000000,2000000,1,2000000,2000000,0.00206504904],
  ["loader",0,"thread",861000000,null,null,null,null,1],
  ["decode",1,"data",861000000,735000000,42,20500000,20500000,1],
  ["resize",2,"operator",126000000,126000000,42,3000000,3000000,0.146341463]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report train.dwell --view tree --sort self_ns
call                   total    self  calls    mean     p99  of thread
train                  968ms                                    100.0%
  next-batch          80.9ms  80.9ms     40  2.02ms  2.10ms       8.4%
  backward             320ms  40.0ms     40  8.00ms  8.00ms      33.0%
    conv2d_backward    280ms   280ms     40  7.00ms  7.00ms      28.9%
  load model          40.0ms  40.0ms      1  40.0ms  40.0ms       4.1%
  forward              361ms  20.0ms     40  9.02ms  48.0ms      37.3%
    conv2d             281ms   240ms     80  3.51ms  5.05ms      29.0%
      im2col          40.9ms  40.9ms     40  1.02ms  1.10ms       4.2%
    gc: generation 2  40.0ms  40.0ms      1  40.0ms  40.0ms       4.1%
    relu              20.0ms  20.0ms     40   500us   500us       2.1%
  optimizer           62.7ms  20.0ms     40  1.57ms  1.80ms       6.5%
    sgd               42.7ms  42.7ms     40  1.07ms  1.30ms       4.4%
  save weights        12.0ms  12.0ms      1  12.0ms  12.0ms       1.2%
  validate            90.0ms  10.0ms      1  90.0ms  90.0ms       9.3%
    conv2d            80.0ms  80.0ms      1  80.0ms  80.0ms       8.3%
loader                 861ms                                    100.0%
  decode               861ms   735ms     42  20.5ms  20.5ms     100.0%
    resize             126ms   126ms     42  3.00ms  3.00ms      14.6%

1 call under 0.5% of its thread hidden: --limit all shows it.

$ dwell report train.dwell --view tree --limit all
call                   total    self  calls    mean     p99  of thread
train                  968ms                                    100.0%
  forward              361ms  20.0ms     40  9.02ms  48.0ms      37.3%
    conv2d             281ms   240ms     80  3.51ms  5.05ms      29.0%
      im2col          40.9ms  40.9ms     40  1.02ms  1.10ms       4.2%
    gc: generation 2  40.0ms  40.0ms      1  40.0ms  40.0ms       4.1%
    relu              20.0ms  20.0ms     40   500us   500us       2.1%
  backward             320ms  40.0ms     40  8.00ms  8.00ms      33.0%
    conv2d_backward    280ms   280ms     40  7.00ms  7.00ms      28.9%
  validate            90.0ms  10.0ms      1  90.0ms  90.0ms       9.3%
    conv2d            80.0ms  80.0ms      1  80.0ms  80.0ms       8.3%
  next-batch          80.9ms  80.9ms     40  2.02ms  2.10ms       8.4%
  optimizer           62.7ms  20.0ms     40  1.57ms  1.80ms       6.5%
    sgd               42.7ms  42.7ms     40  1.07ms  1.30ms       4.4%
  load model          40.0ms  40.0ms      1  40.0ms  40.0ms       4.1%
  save weights        12.0ms  12.0ms      1  12.0ms  12.0ms       1.2%
  write log           2.00ms  2.00ms      1  2.00ms  2.00ms       0.2%
loader                 861ms                                    100.0%
  decode               861ms   735ms     42  20.5ms  20.5ms     100.0%
    resize             126ms   126ms     42  3.00ms  3.00ms      14.6%

$ trace nosteps && dwell report nosteps.dwell --view tree
call            total    self  calls    mean     p99  of thread
sim             145ms                                    100.0%
  solve         104ms  89.0ms      6  17.3ms  20.0ms      71.7%
    gather     15.0ms  15.0ms      6  2.50ms  3.00ms      10.3%
  setup        41.0ms  31.0ms      1  41.0ms  41.0ms      28.3%
    read mesh  10.0ms  10.0ms      1  10.0ms  10.0ms       6.9%
io             60.0ms                                    100.0%
  write        60.0ms  60.0ms      1  60.0ms  60.0ms     100.0%

2 calls did not end; counted until the end of their process.
1 call under 0.5% of its thread hidden: --limit all shows it.
Recorded: 79.8% of this time.
Lost: 1,204,331 records (disk: the disk was full).
Lost: 1 record (busy: a signal handler interrupted the recorder twice).

$ trace python && dwell report python.dwell --view tree
call                    total    self  calls    mean     p99  of thread
python3                 369ms                                    100.0%
  DataLoader.__next__   120ms   120ms      4  30.0ms  30.0ms      32.5%
  forward               120ms  40.0ms      4  30.0ms  30.0ms      32.5%
    aten::linear       80.0ms  80.0ms      4  20.0ms  20.0ms      21.7%
  backward              120ms  20.0ms      4  30.0ms  30.0ms      32.5%
    AddmmBackward0      100ms   100ms      4  25.0ms  25.0ms      27.1%
  summary              5.00ms  5.00ms      1  5.00ms  5.00ms       1.4%
  recorder             4.00ms  4.00ms      4  1.00ms  1.00ms       1.1%

Recorded: 74.2% of this time.

$ trace ranks && dwell report ranks.dwell --view tree
call           total    self  calls    mean     p99  of thread
rank 0 train  30.0ms                                    100.0%
  forward     20.0ms  20.0ms      5  4.00ms  4.00ms      66.7%
  all_reduce  10.0ms  10.0ms      5  2.00ms  2.00ms      33.3%
rank 1 train  30.0ms                                    100.0%
  forward     25.0ms  25.0ms      5  5.00ms  5.00ms      83.3%
  all_reduce  5.00ms  5.00ms      5  1.00ms  1.00ms      16.7%

$ trace device_train && dwell report device_train.dwell --view tree --format json
{"dwell":1,"views":[
{"view":"tree","traces":["device_train.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"call","unit":"","type":"text"},
  {"name":"depth","label":"depth","unit":"","type":"int"},
  {"name":"category","label":"kind","unit":"","type":"text"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"share","label":"of thread","unit":"ratio","type":"real","of":"thread"},
  {"name":"device_ns","label":"device","unit":"ns","type":"int"},
  {"name":"device_total_ns","label":"device total","unit":"ns","type":"int"},
  {"name":"device_events","label":"device events","unit":"count","type":"int"},
  {"name":"place","label":"place","unit":"","type":"text"},
  {"name":"file","label":"file","unit":"","type":"text"}],
 "rows":[
  ["python",0,"thread",1799000,null,null,null,null,1,0,681000,0,null,null],
  ["run",1,"action",1799000,1346000,1,1799000,1799000,1,0,681000,0,null,null],
  ["backward",2,"phase",249000,249000,3,83000,83000,0.138410228,null,null,null,null,null],
  ["forward",2,"phase",129000,6000,3,43000,43000,0.0717065036,0,441000,0,null,null],
  ["Net",3,"layer",123000,12000,3,41000,41000,0.0683713174,0,441000,0,"net.py:3","net.py"],
  ["fc",4,"layer",45000,6000,3,15000,15000,0.0250138966,0,300000,0,null,null],
  ["aten::linear",5,"operator",39000,6000,3,13000,13000,0.0216787104,0,300000,0,null,null],
  ["aten::addmm",6,"operator",33000,6000,3,11000,11000,0.0183435242,0,300000,0,null,null],
  ["cudaLaunchKernel",7,"runtime",27000,27000,3,9000,9000,0.015008338,300000,300000,3,null,null],
  ["act",4,"layer",39000,6000,3,13000,13000,0.0216787104,0,120000,0,null,null],
  ["aten::relu",5,"operator",33000,6000,3,11000,11000,0.0183435242,0,120000,0,null,null],
  ["cudaLaunchKernel",6,"runtime",27000,27000,3,9000,9000,0.015008338,120000,120000,3,null,null],
  ["cudaLaunchKernel",4,"runtime",27000,27000,3,9000,9000,0.015008338,21000,21000,3,null,null],
  ["clip",2,"zone",39000,6000,3,13000,13000,0.0216787104,0,180000,0,null,null],
  ["aten::norm",3,"operator",33000,6000,3,11000,11000,0.0183435242,0,180000,0,null,null],
  ["cudaLaunchKernel",4,"runtime",27000,27000,3,9000,9000,0.015008338,180000,180000,3,null,null],
  ["ITERATION_STARTED",2,"event",36000,3000,3,12000,12000,0.0200111173,0,60000,0,null,null],
  ["to_device",3,"handler",33000,18000,3,11000,11000,0.0183435242,0,60000,0,null,null],
  ["cudaMemcpyAsync",4,"runtime",15000,15000,3,5000,5000,0.00833796554,60000,60000,3,null,null],
  ["pt_autograd_0",0,"thread",45000,null,null,null,null,1,0,900000,0,null,null],
  ["autograd::engine::evaluate_function: AddmmBackward0",1,"operator",45000,6000,3,15000,15000,1,0,900000,0,null,null],
  ["AddmmBackward0",2,"operator",39000,6000,3,13000,13000,0.866666667,0,900000,0,null,null],
  ["aten::mm",3,"operator",33000,6000,3,11000,11000,0.733333333,0,900000,0,null,null],
  ["cudaLaunchKernel",4,"runtime",27000,27000,3,9000,9000,0.6,900000,900000,3,null,null]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report device_train.dwell --view tree --thread pt_autograd_0
Only thread pt_autograd_0.

call                                                    total    self  calls    mean     p99  of thread  device  device total  device events
pt_autograd_0                                          45.0us                                    100.0%       0         900us              0
  autograd::engine::evaluate_function: AddmmBackward0  45.0us  6.00us      3  15.0us  15.0us     100.0%       0         900us              0
    AddmmBackward0                                     39.0us  6.00us      3  13.0us  13.0us      86.7%       0         900us              0
      aten::mm                                         33.0us  6.00us      3  11.0us  11.0us      73.3%       0         900us              0
        cudaLaunchKernel                               27.0us  27.0us      3  9.00us  9.00us      60.0%   900us         900us              3

$ trace lightning && dwell report lightning.dwell --view tree --action inner --profile fit
Only profile fit, action inner.

call          total    self  calls    mean     p99  of thread  place
main         20.0ms                                    100.0%
  inner      20.0ms  13.0ms      2  10.0ms  10.0ms     100.0%
    fib      7.00ms  4.00ms      2  3.50ms  5.00ms      35.0%  fib.c:2
     fib     3.00ms  2.00ms      1  3.00ms  3.00ms      15.0%  fib.c:2
     fib     1.00ms  1.00ms      1  1.00ms  1.00ms       5.0%  fib.c:2

$ trace empty && dwell report empty.dwell --view tree
Nothing was recorded here.

$ trace figures_threads && dwell report figures_threads.dwell --view tree
call          total    self  calls    mean     p99  of thread
omp          24.0ms                                    100.0%
  gemm       24.0ms  24.0ms      4  6.00ms  6.00ms     100.0%
worker [21]  24.0ms                                    100.0%
  gemm       24.0ms  24.0ms      4  6.00ms  6.00ms     100.0%
worker [22]  24.0ms                                    100.0%
  gemm       24.0ms  24.0ms      4  6.00ms  6.00ms     100.0%
pool          140ms                                    100.0%
  gemm_part   140ms   140ms     14  10.0ms  10.0ms     100.0%

$ trace figures_recursion && dwell report figures_recursion.dwell --view tree
call                    total    self  calls    mean     p99  of thread
rec                     127ms                                    100.0%
  f                     123ms  2.00ms      1   123ms   123ms      96.9%
    f                   121ms  2.00ms      1   121ms   121ms      95.3%
      f                 119ms  2.00ms      1   119ms   119ms      93.7%
        f               117ms  2.00ms      1   117ms   117ms      92.1%
          f             115ms  2.00ms      1   115ms   115ms      90.6%
          f             113ms  2.00ms      1   113ms   113ms      89.0%
          f             111ms  2.00ms      1   111ms   111ms      87.4%
          f             109ms  2.00ms      1   109ms   109ms      85.8%
          f             107ms  2.00ms      1   107ms   107ms      84.3%
          f             105ms   105ms      1   105ms   105ms      82.7%
  g                    4.00ms  2.00ms      1  4.00ms  4.00ms       3.1%
    g                  2.00ms  2.00ms      1  2.00ms  2.00ms       1.6%

$ trace reduced && dwell report reduced.dwell --view tree
call        total    self  calls    mean     p99  of thread
train       101ms                                    100.0%
  forward   100ms  80.0ms     10  10.0ms  10.0ms      99.0%
    net    20.0ms       0      2  10.0ms  10.0ms      19.8%
    mm     20.0ms  20.0ms     20  1.00ms  1.00ms      19.8%
  item     1.00ms  1.00ms      2   500us   500us       1.0%

Operators and layers were recorded in 2 of 10 steps, chosen at random: totals are of these. For all steps multiply by about 5.0.
