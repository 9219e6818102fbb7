$ trace places && dwell report places.dwell --view calls
name      calls    self   total    mean     min     max     p50     p99  of self time  place
conv          4  10.0ms  10.0ms  2.50ms  1.00ms  4.00ms  2.00ms  4.00ms         50.0%  conv.c:120 and 2 more
forward       1  7.00ms  20.0ms  20.0ms  20.0ms  20.0ms  20.0ms  20.0ms         35.0%  infer.c:40
softmax       1  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms         10.0%  softmax.c
unplaced      1  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms          5.0%
all           7  20.0ms

$ trace device_train && dwell report device_train.dwell --view calls --format json
{"dwell":1,"views":[
{"view":"calls","traces":["device_train.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"name","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"share","label":"of self time","unit":"ratio","type":"real","sums":"self_ns","whole":510000},
  {"name":"flops","label":"FLOPs","unit":"count","type":"int"},
  {"name":"category","label":"category","unit":"","type":"text"},
  {"name":"device_ns","label":"device","unit":"ns","type":"int"},
  {"name":"device_total_ns","label":"device total","unit":"ns","type":"int"},
  {"name":"device_events","label":"device events","unit":"count","type":"int"}],
 "rows":[
  ["ProfilerStep*",3,354000,465000,155000,155000,155000,155000,155000,0.694117647,null,"zone",0,1581000,0],
  ["aten::addmm",3,33000,33000,11000,11000,11000,11000,11000,0.0647058824,null,"operator",300000,300000,3],
  ["aten::relu",3,33000,33000,11000,11000,11000,11000,11000,0.0647058824,null,"operator",120000,120000,3],
  ["aten::mm",3,33000,33000,11000,11000,11000,11000,11000,0.0647058824,null,"operator",900000,900000,3],
  ["aten::norm",3,33000,33000,11000,11000,11000,11000,11000,0.0647058824,null,"operator",180000,180000,3],
  ["aten::linear",3,6000,39000,13000,13000,13000,13000,13000,0.0117647059,3072,"operator",0,300000,0],
  ["autograd::engine::evaluate_function: AddmmBackward0",3,6000,45000,15000,15000,15000,15000,15000,0.0117647059,null,"operator",0,900000,0],
  ["AddmmBackward0",3,6000,39000,13000,13000,13000,13000,13000,0.0117647059,null,"operator",0,900000,0],
  ["clip",3,6000,39000,13000,13000,13000,13000,13000,0.0117647059,null,"zone",0,180000,0]],
 "totals":{"calls":27,"self_ns":510000},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report device_train.dwell --view calls --group-by shape --sort device_ns
name                                                 shapes                        calls    self   total    mean     min     max     p50     p99  of self time  FLOPs  device  device total  device events
aten::mm                                                                               3  33.0us  33.0us  11.0us  11.0us  11.0us  11.0us  11.0us          6.5%          900us         900us              3
aten::addmm                                                                            3  33.0us  33.0us  11.0us  11.0us  11.0us  11.0us  11.0us          6.5%          300us         300us              3
aten::norm                                                                             3  33.0us  33.0us  11.0us  11.0us  11.0us  11.0us  11.0us          6.5%          180us         180us              3
aten::relu                                                                             3  33.0us  33.0us  11.0us  11.0us  11.0us  11.0us  11.0us          6.5%          120us         120us              3
ProfilerStep*                                                                          3   354us   465us   155us   155us   155us   155us   155us         69.4%              0        1.58ms              0
aten::linear                                         float32[8,16], float32[4,16]      3  6.00us  39.0us  13.0us  13.0us  13.0us  13.0us  13.0us          1.2%  3,072       0         300us              0
autograd::engine::evaluate_function: AddmmBackward0                                    3  6.00us  45.0us  15.0us  15.0us  15.0us  15.0us  15.0us          1.2%              0         900us              0
AddmmBackward0                                                                         3  6.00us  39.0us  13.0us  13.0us  13.0us  13.0us  13.0us          1.2%              0         900us              0
clip                                                                                   3  6.00us  39.0us  13.0us  13.0us  13.0us  13.0us  13.0us          1.2%              0         180us              0
all                                                                                   27   510us

$ trace calls && dwell report calls.dwell --view calls --format json
{"dwell":1,"views":[
{"view":"calls","traces":["calls.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"name","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"share","label":"of self time","unit":"ratio","type":"real","sums":"self_ns","whole":6143000},
  {"name":"self_bytes","label":"self memory","unit":"bytes","type":"int"},
  {"name":"total_bytes","label":"memory","unit":"bytes","type":"int"},
  {"name":"flops","label":"FLOPs","unit":"count","type":"int"},
  {"name":"category","label":"category","unit":"","type":"text"}],
 "rows":[
  ["aten::clamp_min",2,4000000,4000000,2000000,2000000,2000000,2000000,2000000,0.651147648,0,0,null,"operator"],
  ["aten::linear",3,1023000,1827000,609000,413000,1001000,413000,1001000,0.166531011,-4096,4096,20480,"operator"],
  ["aten::addmm",2,804000,804000,402000,402000,402000,402000,402000,0.130880677,8192,8192,null,"operator"],
  ["step",2,100000,5142000,2571000,2571000,2571000,2571000,2571000,0.0162786912,0,0,null,"zone"],
  ["model",2,70000,5042000,2521000,2521000,2521000,2521000,2521000,0.0113950838,0,8192,null,"zone"],
  ["aten::relu",2,62000,4062000,2031000,2031000,2031000,2031000,2031000,0.0100927885,0,0,512,"operator"],
  ["first",2,40000,40000,20000,20000,20000,20000,20000,0.00651147648,0,0,null,"operator"],
  ["second",2,40000,40000,20000,20000,20000,20000,20000,0.00651147648,0,0,null,"operator"],
  ["a name that is much longer than any column of a table should ever be",2,2000,2000,1000,1000,1000,1000,1000,0.000325573824,0,0,null,"operator"],
  ["größe",2,2000,2000,1000,1000,1000,1000,1000,0.000325573824,0,0,null,"operator"],
  ["transfer",2,0,4112000,2056000,2056000,2056000,2056000,2056000,0,0,0,null,"async"]],
 "totals":{"calls":23,"self_ns":6143000},
 "coverage":1,"losses":[],
 "notes":["2 calls overlapped others without nesting: neither counts as part of the other."]}
]}

$ dwell report calls.dwell --view calls --time-unit ms
name                                                                  calls  self ms  total ms  mean ms  min ms  max ms  p50 ms  p99 ms  of self time  self memory   memory   FLOPs
aten::clamp_min                                                           2    4.000     4.000    2.000   2.000   2.000   2.000   2.000         65.1%            0        0
aten::linear                                                              3    1.023     1.827    0.609   0.413   1.001   0.413   1.001         16.7%     -4.00KiB  4.00KiB  20,480
aten::addmm                                                               2    0.804     0.804    0.402   0.402   0.402   0.402   0.402         13.1%      8.00KiB  8.00KiB
step                                                                      2    0.100     5.142    2.571   2.571   2.571   2.571   2.571          1.6%            0        0
model                                                                     2    0.070     5.042    2.521   2.521   2.521   2.521   2.521          1.1%            0  8.00KiB
aten::relu                                                                2    0.062     4.062    2.031   2.031   2.031   2.031   2.031          1.0%            0        0     512
first                                                                     2    0.040     0.040    0.020   0.020   0.020   0.020   0.020          0.7%            0        0
second                                                                    2    0.040     0.040    0.020   0.020   0.020   0.020   0.020          0.7%            0        0
a name that is much longer than any column of a table should ever be      2    0.002     0.002    0.001   0.001   0.001   0.001   0.001          0.0%            0        0
größe                                                                     2    0.002     0.002    0.001   0.001   0.001   0.001   0.001          0.0%            0        0
transfer                                                                  2    0.000     4.112    2.056   2.056   2.056   2.056   2.056          0.0%            0        0
all                                                                      23    6.143

2 calls overlapped others without nesting: neither counts as part of the other.

$ dwell report calls.dwell --view calls --sort self_bytes --limit 3
name             calls    self   total    mean     min     max     p50     p99  of self time  self memory   memory  FLOPs
aten::addmm          2   804us   804us   402us   402us   402us   402us   402us         13.1%      8.00KiB  8.00KiB
aten::clamp_min      2  4.00ms  4.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms         65.1%            0        0
step                 2   100us  5.14ms  2.57ms  2.57ms  2.57ms  2.57ms  2.57ms          1.6%            0        0
all                 23  6.14ms

2 calls overlapped others without nesting: neither counts as part of the other.
8 more rows: --limit all shows them.

$ trace figures_recursion && dwell report figures_recursion.dwell --view calls
name  calls    self   total    mean     min     max     p50     p99  of self time
f        10   123ms   123ms   114ms   105ms   123ms   113ms   123ms         96.1%
g         2  4.00ms  4.00ms  3.00ms  2.00ms  4.00ms  2.00ms  4.00ms          3.1%
step      1  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms          0.8%
all      13   128ms

# Which ranges are rows besides operators.
$ trace figures_named && for ranges in none named steps; do dwell report figures_named.dwell --view calls --ranges $ranges -f csv | cut -d, -f1-4; done
name,calls,self_ns,total_ns
conv,10,10000000,10000000
name,calls,self_ns,total_ns
epoch,1,25000000,41000000
conv,10,10000000,10000000
sgd_update,6,6000000,6000000
attention,4,4000000,4000000
name,calls,self_ns,total_ns
step,6,50000000,60000000
conv,10,10000000,10000000

$ trace lightning && dwell report lightning.dwell --view calls --ranges named,actions -f csv | cut -d, -f1-3 | head -4
name,calls,self_ns
[pl][profile]inner,2,20005000
[pl][profile]outer,3,13015000
[pl][profile][LightningModule]Net.test_step,2,4700000

$ dwell report lightning.dwell --view calls --ranges named,zones
2> dwell: --ranges takes a list of named, steps and actions, or none; not 'zones'
[2]

$ for ranges in named named,steps; do dwell report figures_named.dwell --layout torch --ranges $ranges | grep -c ProfilerStep; done
0
1
