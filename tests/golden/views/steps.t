$ trace train && dwell report train.dwell --view steps --format json
{"dwell":1,"views":[
{"view":"steps","traces":["train.dwell"],"scope":{},
 "columns":[
  {"name":"step","label":"step","unit":"","type":"int"},
  {"name":"thread","label":"thread","unit":"","type":"text"},
  {"name":"start_ns","label":"start","unit":"ns","type":"int"},
  {"name":"duration_ns","label":"duration","unit":"ns","type":"int"},
  {"name":"until_next_ns","label":"until next","unit":"ns","type":"int"},
  {"name":"of_median","label":"of median","unit":"times","type":"real"},
  {"name":"cpu_share","label":"cpu","unit":"ratio","type":"real","of":"the step"},
  {"name":"most","label":"most of it","unit":"","type":"text"},
  {"name":"why","label":"what took longer","unit":"","type":"text"},
  {"name":"profiler_ns","label":"profiler","unit":"ns","type":"int"},
  {"name":"collector_ns","label":"collector","unit":"ns","type":"int"},
  {"name":"data_ns","label":"data","unit":"ns","type":"int"},
  {"name":"communication_ns","label":"communication","unit":"ns","type":"int"},
  {"name":"device_wait_ns","label":"device wait","unit":"ns","type":"int"},
  {"name":"checkpoint_ns","label":"checkpoint","unit":"ns","type":"int"},
  {"name":"evaluation_ns","label":"evaluation","unit":"ns","type":"int"},
  {"name":"optimizer_ns","label":"optimizer","unit":"ns","type":"int"},
  {"name":"backward_ns","label":"backward","unit":"ns","type":"int"},
  {"name":"forward_ns","label":"forward","unit":"ns","type":"int"},
  {"name":"python_ns","label":"python","unit":"ns","type":"int"},
  {"name":"operators_ns","label":"operators","unit":"ns","type":"int"},
  {"name":"layers_ns","label":"layers","unit":"ns","type":"int"},
  {"name":"functions_ns","label":"functions","unit":"ns","type":"int"},
  {"name":"named_ns","label":"named","unit":"ns","type":"int"},
  {"name":"other_ns","label":"other","unit":"ns","type":"int"},
  {"name":"cpu_ns","label":"cpu","unit":"ns","type":"int"}],
 "rows":[
  [0,"train",46000000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [1,"train",66100000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [2,"train",86200000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [3,"train",106300000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [4,"train",126400000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [5,"train",146500000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [6,"train",166600000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [7,"train",186700000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [8,"train",206800000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [9,"train",226900000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [10,"train",247000000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [11,"train",267100000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [12,"train",287200000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [13,"train",307300000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [14,"train",327400000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [15,"train",347500000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [16,"train",367600000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [17,"train",387700000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [18,"train",407800000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [19,"train",427900000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [20,"train",448000000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [21,"train",468100000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [22,"train",488200000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [23,"train",508300000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [24,"train",528400000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [25,"train",548500000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [26,"train",568600000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [27,"train",588700000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [28,"train",608800000,20000000,20100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [29,"train",628900000,20000000,123100000,1,0.95,"backward 40%, forward 40%",null,0,0,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,19000000],
  [30,"train",752000000,60000000,60100000,3,0.983333333,"collector 67%, backward 13%","+40.0 ms in gc: generation 2",0,40000000,2000000,0,0,0,0,1500000,8000000,8000000,0,0,0,0,0,500000,59000000],
  [31,"train",812100000,20500000,20600000,1.025,0.926829268,"forward 40%, backward 39%",null,0,0,2100000,0,0,0,0,1800000,8000000,8100000,0,0,0,0,0,500000,19000000],
  [32,"train",832700000,20500000,20600000,1.025,0.926829268,"forward 40%, backward 39%",null,0,0,2100000,0,0,0,0,1800000,8000000,8100000,0,0,0,0,0,500000,19000000],
  [33,"train",853300000,20500000,20600000,1.025,0.926829268,"forward 40%, backward 39%",null,0,0,2100000,0,0,0,0,1800000,8000000,8100000,0,0,0,0,0,500000,19000000],
  [34,"train",873900000,20500000,20600000,1.025,0.926829268,"forward 40%, backward 39%",null,0,0,2100000,0,0,0,0,1800000,8000000,8100000,0,0,0,0,0,500000,19000000],
  [35,"train",894500000,20500000,20600000,1.025,0.926829268,"forward 40%, backward 39%",null,0,0,2100000,0,0,0,0,1800000,8000000,8100000,0,0,0,0,0,500000,19000000],
  [36,"train",915100000,20500000,20600000,1.025,0.926829268,"forward 40%, backward 39%",null,0,0,2100000,0,0,0,0,1800000,8000000,8100000,0,0,0,0,0,500000,19000000],
  [37,"train",935700000,20500000,20600000,1.025,0.926829268,"forward 40%, backward 39%",null,0,0,2100000,0,0,0,0,1800000,8000000,8100000,0,0,0,0,0,500000,19000000],
  [38,"train",956300000,20500000,20600000,1.025,0.926829268,"forward 40%, backward 39%",null,0,0,2100000,0,0,0,0,1800000,8000000,8100000,0,0,0,0,0,500000,19000000],
  [39,"train",976900000,20500000,null,1.025,0.926829268,"forward 40%, backward 39%",null,0,0,2100000,0,0,0,0,1800000,8000000,8100000,0,0,0,0,0,500000,19000000]],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["40 steps in 951 ms, 23.8 ms a step (p50 20.1, p95 60.1, p99 123.1)."],
 "notes":[]}
]}

$ dwell report train.dwell --view steps --limit all
40 steps in 951 ms, 23.8 ms a step (p50 20.1, p95 60.1, p99 123.1).

step   start  duration  until next  of median    cpu  most of it                   what took longer
   0  46.0ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
   1  66.1ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
   2  86.2ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
   3   106ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
   4   126ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
   5   146ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
   6   167ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
   7   187ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
   8   207ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
   9   227ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  10   247ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  11   267ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  12   287ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  13   307ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  14   327ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  15   348ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  16   368ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  17   388ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  18   408ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  19   428ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  20   448ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  21   468ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  22   488ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  23   508ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  24   528ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  25   548ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  26   569ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  27   589ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  28   609ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  29   629ms    20.0ms       123ms      1.00x  95.0%  backward 40%, forward 40%
  30   752ms    60.0ms      60.1ms      3.00x  98.3%  collector 67%, backward 13%  +40.0 ms in gc: generation 2
  31   812ms    20.5ms      20.6ms      1.02x  92.7%  forward 40%, backward 39%
  32   833ms    20.5ms      20.6ms      1.02x  92.7%  forward 40%, backward 39%
  33   853ms    20.5ms      20.6ms      1.02x  92.7%  forward 40%, backward 39%
  34   874ms    20.5ms      20.6ms      1.02x  92.7%  forward 40%, backward 39%
  35   894ms    20.5ms      20.6ms      1.02x  92.7%  forward 40%, backward 39%
  36   915ms    20.5ms      20.6ms      1.02x  92.7%  forward 40%, backward 39%
  37   936ms    20.5ms      20.6ms      1.02x  92.7%  forward 40%, backward 39%
  38   956ms    20.5ms      20.6ms      1.02x  92.7%  forward 40%, backward 39%
  39   977ms    20.5ms                  1.02x  92.7%  forward 40%, backward 39%

$ dwell report train.dwell --view steps --steps 28..31
Only steps 28..31.
4 steps in 224 ms, 56.0 ms a step (p50 20.6, p95 123.1, p99 123.1).

step  start  duration  until next  of median    cpu  most of it                   what took longer
  30  752ms    60.0ms      60.1ms      3.00x  98.3%  collector 67%, backward 13%  +40.0 ms in gc: generation 2
  31  812ms    20.5ms      20.6ms      1.02x  92.7%  forward 40%, backward 39%
  28  609ms    20.0ms      20.1ms      1.00x  95.0%  backward 40%, forward 40%
  29  629ms    20.0ms       123ms      1.00x  95.0%  backward 40%, forward 40%

$ trace nosteps && dwell report nosteps.dwell --view steps
2> dwell: nosteps.dwell has no steps: mark each iteration with DWELL_STEP() or dwell_step(), in Python dwell.step(), or record with dwell run --step-on NAME
[1]

$ trace python && dwell report python.dwell --view steps
6 steps in 650 ms, 108 ms a step (p50 110, p95 110, p99 110).
NOTE   4 of the steps were recorded; the figures are of them.

step  start  duration  until next  of median    cpu  most of it              what took longer
   0  110ms     100ms       110ms      1.00x  90.0%                          not recorded
   1  220ms     100ms       110ms      1.00x  90.0%                          not recorded
   2  330ms     100ms       110ms      1.00x  80.0%  data 30%, backward 25%
   3  440ms     100ms       110ms      1.00x  80.0%  data 30%, backward 25%
   4  550ms     100ms       110ms      1.00x  80.0%  data 30%, backward 25%
   5  660ms     100ms                  1.00x  80.0%  data 30%, backward 25%

Recorded: 74.2% of this time.

$ trace ranks && dwell report ranks.dwell --view steps
10 steps of 2 processes in 39.0 ms each, 7.80 ms a step (p50 8.00, p95 8.00, p99 8.00).

step  thread         start  duration  until next  of median     cpu  most of it                      what took longer
   0  rank 0 train  2.00ms    7.00ms      8.00ms      1.00x  100.0%  forward 57%, communication 29%
   1  rank 0 train  10.0ms    7.00ms      8.00ms      1.00x  100.0%  forward 57%, communication 29%
   2  rank 0 train  18.0ms    7.00ms      8.00ms      1.00x  100.0%  forward 57%, communication 29%
   3  rank 0 train  26.0ms    7.00ms      8.00ms      1.00x  100.0%  forward 57%, communication 29%
   4  rank 0 train  34.0ms    7.00ms                  1.00x  100.0%  forward 57%, communication 29%
   0  rank 1 train  2.00ms    7.00ms      8.00ms      1.00x  100.0%  forward 71%, communication 14%
   1  rank 1 train  10.0ms    7.00ms      8.00ms      1.00x  100.0%  forward 71%, communication 14%
   2  rank 1 train  18.0ms    7.00ms      8.00ms      1.00x  100.0%  forward 71%, communication 14%
   3  rank 1 train  26.0ms    7.00ms      8.00ms      1.00x  100.0%  forward 71%, communication 14%
   4  rank 1 train  34.0ms    7.00ms                  1.00x  100.0%  forward 71%, communication 14%

$ trace device_train && dwell report device_train.dwell --view steps --format json
{"dwell":1,"views":[
{"view":"steps","traces":["device_train.dwell"],"scope":{},
 "columns":[
  {"name":"step","label":"step","unit":"","type":"int"},
  {"name":"thread","label":"thread","unit":"","type":"text"},
  {"name":"start_ns","label":"start","unit":"ns","type":"int"},
  {"name":"duration_ns","label":"duration","unit":"ns","type":"int"},
  {"name":"until_next_ns","label":"until next","unit":"ns","type":"int"},
  {"name":"of_median","label":"of median","unit":"times","type":"real"},
  {"name":"cpu_share","label":"cpu","unit":"ratio","type":"real","of":"the step"},
  {"name":"most","label":"most of it","unit":"","type":"text"},
  {"name":"why","label":"what took longer","unit":"","type":"text"},
  {"name":"profiler_ns","label":"profiler","unit":"ns","type":"int"},
  {"name":"collector_ns","label":"collector","unit":"ns","type":"int"},
  {"name":"data_ns","label":"data","unit":"ns","type":"int"},
  {"name":"communication_ns","label":"communication","unit":"ns","type":"int"},
  {"name":"device_wait_ns","label":"device wait","unit":"ns","type":"int"},
  {"name":"checkpoint_ns","label":"checkpoint","unit":"ns","type":"int"},
  {"name":"evaluation_ns","label":"evaluation","unit":"ns","type":"int"},
  {"name":"optimizer_ns","label":"optimizer","unit":"ns","type":"int"},
  {"name":"backward_ns","label":"backward","unit":"ns","type":"int"},
  {"name":"forward_ns","label":"forward","unit":"ns","type":"int"},
  {"name":"python_ns","label":"python","unit":"ns","type":"int"},
  {"name":"operators_ns","label":"operators","unit":"ns","type":"int"},
  {"name":"layers_ns","label":"layers","unit":"ns","type":"int"},
  {"name":"functions_ns","label":"functions","unit":"ns","type":"int"},
  {"name":"named_ns","label":"named","unit":"ns","type":"int"},
  {"name":"other_ns","label":"other","unit":"ns","type":"int"},
  {"name":"cpu_ns","label":"cpu","unit":"ns","type":"int"},
  {"name":"device_ns","label":"device","unit":"ns","type":"int"},
  {"name":"device_events","label":"device events","unit":"count","type":"int"}],
 "rows":[
  [0,"python",10000,155000,600000,1,null,"python 56%, forward 15%",null,0,0,0,0,0,0,0,0,15000,24000,87000,0,0,0,29000,0,0,527000,6],
  [1,"python",610000,155000,600000,1,null,"python 56%, forward 15%",null,0,0,0,0,0,0,0,0,15000,24000,87000,0,0,0,29000,0,0,527000,6],
  [2,"python",1210000,155000,null,1,null,"python 56%, forward 15%",null,0,0,0,0,0,0,0,0,15000,24000,87000,0,0,0,29000,0,0,527000,6]],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["3 steps in 1.35 ms, 452 us a step (p50 600, p95 600, p99 600)."],
 "notes":[]}
]}

$ trace empty && dwell report empty.dwell --view steps
2> dwell: empty.dwell has no steps: mark each iteration with DWELL_STEP() or dwell_step(), in Python dwell.step(), or record with dwell run --step-on NAME
[1]

$ trace figures_named && dwell report figures_named.dwell --view steps
6 steps in 60.0 ms, 10.0 ms a step (p50 10.0, p95 10.0, p99 10.0).

step   start  duration  until next  of median     cpu  most of it             what took longer
   0  10.0ms    10.0ms      10.0ms      1.00x  100.0%  tokenize 50%, fwd 20%
   1  20.0ms    10.0ms      10.0ms      1.00x  100.0%  tokenize 50%, fwd 20%
   2  30.0ms    10.0ms      10.0ms      1.00x  100.0%  tokenize 50%, fwd 20%
   3  40.0ms    10.0ms      10.0ms      1.00x  100.0%  tokenize 50%, fwd 20%
   4  50.0ms    10.0ms      10.0ms      1.00x  100.0%  tokenize 50%, fwd 20%
   5  60.0ms    10.0ms                  1.00x  100.0%  tokenize 50%, fwd 20%

$ trace figures_newest && dwell report figures_newest.dwell --view steps
10 steps in 100 ms, 10.0 ms a step (p50 10.0, p95 10.0, p99 10.0).
NOTE   1 more step did not end and is not counted.
NOTE   Records are missing in 7 steps; the figures are of the 3 steps without missing records.

step   start  duration  until next  of median     cpu  most of it            what took longer
   0       0    10.0ms      10.0ms      1.00x  100.0%                        records are missing
   1  10.0ms    10.0ms      10.0ms      1.00x  100.0%                        records are missing
   2  20.0ms    10.0ms      10.0ms      1.00x  100.0%                        records are missing
   3  30.0ms    10.0ms      10.0ms      1.00x  100.0%                        records are missing
   4  40.0ms    10.0ms      10.0ms      1.00x  100.0%                        records are missing
   5  50.0ms    10.0ms      10.0ms      1.00x  100.0%                        records are missing
   6  60.0ms    10.0ms      10.0ms      1.00x  100.0%                        records are missing
   7  70.0ms    10.0ms      10.0ms      1.00x  100.0%  outer 50%, other 50%
   8  80.0ms    10.0ms      10.0ms      1.00x  100.0%  outer 50%, other 50%
   9  90.0ms    10.0ms      10.0ms      1.00x  100.0%  outer 50%, other 50%
  10   100ms    3.00ms                  0.30x          outer 100%            it did not end

Recorded: 32.0% of this time.
Lost: 70 records (recycled: the middle was overwritten to stay within --max-size).

$ trace figures_oldest && dwell report figures_oldest.dwell --view steps
10 steps in 100 ms, 10.0 ms a step (p50 10.0, p95 10.0, p99 10.0).
NOTE   Records are missing in 8 steps; the figures are of the 2 steps without missing records.

step   start  duration  until next  of median     cpu  most of it            what took longer
   0       0    10.0ms      10.0ms      1.00x  100.0%  outer 50%, other 50%
   1  10.0ms    10.0ms      10.0ms      1.00x  100.0%  outer 50%, other 50%
   2  20.0ms    10.0ms      10.0ms      1.00x  100.0%                        records are missing
   3  30.0ms    10.0ms      10.0ms      1.00x  100.0%                        records are missing
   4  40.0ms    10.0ms      10.0ms      1.00x  100.0%                        records are missing
   5  50.0ms    10.0ms      10.0ms      1.00x  100.0%                        records are missing
   6  60.0ms    10.0ms      10.0ms      1.00x  100.0%                        records are missing
   7  70.0ms    10.0ms      10.0ms      1.00x  100.0%                        records are missing
   8  80.0ms    10.0ms      10.0ms      1.00x  100.0%                        records are missing
   9  90.0ms    10.0ms                  1.00x  100.0%                        records are missing

Recorded: 29.0% of this time.
Lost: 70 records (full: the trace reached --max-size).

# A slow step of which only begin and end were recorded.
$ trace brief && dwell report brief.dwell --view steps --limit 3
10 steps in 96.0 ms, 9.60 ms a step (p50 2.00, p95 20.00, p99 20.00).
NOTE   Operators and layers were recorded in 1 of the steps, chosen at random so that recording costs little (--cost full: in all); the figures are of these.

step   start  duration  until next  of median  cpu  most of it              what took longer
   9  36.0ms    60.0ms                 30.00x                               only begin and end were recorded
   0       0    20.0ms      20.0ms     10.00x       forward 50%, other 50%  +10.0 ms in mm
   1  20.0ms    2.00ms      2.00ms      1.00x                               only begin and end were recorded

7 more rows: --limit all shows them.

$ trace reduced && dwell report reduced.dwell --view steps
10 steps in 209 ms, 20.9 ms a step (p50 21.0, p95 21.0, p99 21.0).
NOTE   Operators and layers were recorded in 2 of the steps, chosen at random so that recording costs little (--cost full: in all); the figures are of these.

step   start  duration  until next  of median     cpu  most of it              what took longer
   0       0    20.0ms      21.0ms      1.00x  100.0%  forward 50%, other 50%
   1  21.0ms    20.0ms      21.0ms      1.00x  100.0%                          recorded without operators
   2  42.0ms    20.0ms      21.0ms      1.00x  100.0%                          recorded without operators
   3  63.0ms    20.0ms      21.0ms      1.00x  100.0%                          recorded without operators
   4  84.0ms    20.0ms      21.0ms      1.00x  100.0%                          recorded without operators
   5   105ms    20.0ms      21.0ms      1.00x  100.0%  forward 50%, other 50%
   6   126ms    20.0ms      21.0ms      1.00x  100.0%                          recorded without operators
   7   147ms    20.0ms      21.0ms      1.00x  100.0%                          recorded without operators
   8   168ms    20.0ms      21.0ms      1.00x  100.0%                          recorded without operators
   9   189ms    20.0ms                  1.00x  100.0%                          recorded without operators

# A step that took longer because its thread had no CPU.
$ trace no_cpu && dwell report --view steps --limit 3 no_cpu.dwell
10 steps in 135 ms, 13.5 ms a step (p50 10.0, p95 30.0, p99 30.0).

step   start  duration  until next  of median     cpu  most of it                what took longer
   4  40.0ms    30.0ms      30.0ms      3.00x   33.3%  operators 97%, other 3%   +20.0 ms in waiting for a CPU
   7  90.0ms    25.0ms      25.0ms      2.50x  100.0%  operators 96%, other 4%   +15.0 ms in mm
   0       0    10.0ms      10.0ms      1.00x  100.0%  operators 90%, other 10%

7 more rows: --limit all shows them.
