$ trace places && dwell report places.dwell --view operators
operator       calls    self   total    mean     min     max     p50     p99  of operators  place
conv               4  10.0ms  10.0ms  2.50ms  1.00ms  4.00ms  2.00ms  4.00ms         76.9%  conv.c:120 and 2 more
softmax            1  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms         15.4%  softmax.c
unplaced           1  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms          7.7%
all operators      6  13.0ms

$ dwell report places.dwell --view operators --format json
{"dwell":1,"views":[
{"view":"operators","traces":["places.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"operator","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"share","label":"of operators","unit":"ratio","type":"real","sums":"self_ns","whole":13000000},
  {"name":"place","label":"place","unit":"","type":"text"},
  {"name":"file","label":"file","unit":"","type":"text"}],
 "rows":[
  ["conv",4,10000000,10000000,2500000,1000000,4000000,2000000,4000000,0.769230769,"conv.c:120 and 2 more","src/conv.c"],
  ["softmax",1,2000000,2000000,2000000,2000000,2000000,2000000,2000000,0.153846154,"softmax.c","softmax.c"],
  ["unplaced",1,1000000,1000000,1000000,1000000,1000000,1000000,1000000,0.0769230769,null,null]],
 "totals":{"calls":6,"self_ns":13000000},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ trace train && dwell report train.dwell --view operators --format json
{"dwell":1,"views":[
{"view":"operators","traces":["train.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"operator","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"share","label":"of operators","unit":"ratio","type":"real","sums":"self_ns","whole":829600000},
  {"name":"self_per_step_ns","label":"self/step","unit":"ns","type":"real"},
  {"name":"loop_share","label":"of the loop","unit":"ratio","type":"real","sums":"self_per_step_ns","whole":23785000},
  {"name":"other_threads_per_step_ns","label":"other threads/step","unit":"ns","type":"real"}],
 "rows":[
  ["conv2d",81,320000000,360900000,4455556,2000000,80000000,5046272,80000000,0.385728062,6000000,0.252259828,null],
  ["conv2d_backward",40,280000000,280000000,7000000,7000000,7000000,7000000,7000000,0.337512054,7000000,0.294303132,null],
  ["resize",42,126000000,126000000,3000000,3000000,3000000,3000000,3000000,0.151880424,0,0,2850000],
  ["sgd",40,42700000,42700000,1067500,1000000,1300000,1000000,1300000,0.0514705882,1067500,0.0448812277,null],
  ["im2col",40,40900000,40900000,1022500,1000000,1100000,1000000,1100000,0.0493008679,1022500,0.042989279,null],
  ["relu",40,20000000,20000000,500000,500000,500000,500000,500000,0.0241080039,500000,0.0210216523,null]],
 "totals":{"calls":283,"self_ns":829600000,"self_per_step_ns":15590000,"other_threads_per_step_ns":2850000},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report train.dwell --view operators --sort calls --limit 3
operator         calls   self  total    mean     min     max     p50     p99  self/step  of the loop  other threads/step
conv2d              81  320ms  361ms  4.46ms  2.00ms  80.0ms  5.05ms  80.0ms     6.00ms        25.2%
resize              42  126ms  126ms  3.00ms  3.00ms  3.00ms  3.00ms  3.00ms          0         0.0%              2.85ms
conv2d_backward     40  280ms  280ms  7.00ms  7.00ms  7.00ms  7.00ms  7.00ms     7.00ms        29.4%
all operators      283  830ms                                                    15.6ms                           2.85ms

3 more rows: --limit all shows them.

$ dwell report train.dwell --view operators --steps 30 --thread train
Only step 30, thread train.

operator         calls    self   total    mean     min     max     p50     p99  self/step  of the loop
conv2d_backward      1  7.00ms  7.00ms  7.00ms  7.00ms  7.00ms  7.00ms  7.00ms     7.00ms        11.6%
conv2d               2  6.00ms  7.00ms  3.50ms  2.00ms  5.00ms  2.00ms  5.00ms     6.00ms        10.0%
im2col               1  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms     1.00ms         1.7%
sgd                  1  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms     1.00ms         1.7%
relu                 1   500us   500us   500us   500us   500us   500us   500us      500us         0.8%
all operators        6  15.5ms                                                     15.5ms

$ trace nosteps && dwell report nosteps.dwell --view operators
2> dwell: nosteps.dwell has no operators: mark them with DWELL_OP("name"), or see --view actions
[1]

$ trace python && dwell report python.dwell --view operators
operator        calls    self   total    mean     min     max     p50     p99  self/step  of the loop
AddmmBackward0      4   100ms   100ms  25.0ms  25.0ms  25.0ms  25.0ms  25.0ms     25.0ms        23.1%
aten::linear        4  80.0ms  80.0ms  20.0ms  20.0ms  20.0ms  20.0ms  20.0ms     20.0ms        18.5%
all operators       8   180ms                                                     45.0ms

Recorded: 74.2% of this time.

$ trace ranks && dwell report ranks.dwell --view operators
2> dwell: ranks.dwell has no operators: mark them with DWELL_OP("name"), or see --view actions
[1]

$ trace names && dwell report names.dwell --view operators --format json
{"dwell":1,"views":[
{"view":"operators","traces":["names.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"operator","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"share","label":"of operators","unit":"ratio","type":"real","sums":"self_ns","whole":66000000}],
 "rows":[
  ["esc\u001b[31mape",1,11000000,11000000,11000000,11000000,11000000,11000000,11000000,0.166666667],
  ["bad��utf8",1,10000000,10000000,10000000,10000000,10000000,10000000,10000000,0.151515152],
  ["=cmd|'/c'",1,9000000,9000000,9000000,9000000,9000000,9000000,9000000,0.136363636],
  ["void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3>)",1,8000000,8000000,8000000,8000000,8000000,8000000,8000000,0.121212121],
  ["naïve",1,7000000,7000000,7000000,7000000,7000000,7000000,7000000,0.106060606],
  ["畳み込み演算",1,6000000,6000000,6000000,6000000,6000000,6000000,6000000,0.0909090909],
  ["[31mred",1,5000000,5000000,5000000,5000000,5000000,5000000,5000000,0.0757575758],
  ["*bold*_and_`code`",1,4000000,4000000,4000000,4000000,4000000,4000000,4000000,0.0606060606],
  [" blank first",1,3000000,3000000,3000000,3000000,3000000,3000000,3000000,0.0454545455],
  ["x, y",1,2000000,2000000,2000000,2000000,2000000,2000000,2000000,0.0303030303],
  ["a|b",1,1000000,1000000,1000000,1000000,1000000,1000000,1000000,0.0151515152]],
 "totals":{"calls":11,"self_ns":66000000},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ trace layers && dwell report layers.dwell --view operators
operator       calls    self   total    mean     min     max     p50     p99  self/step  of the loop  other threads/step
ConvBackward       2  8.00ms  8.00ms  4.00ms  4.00ms  4.00ms  4.00ms  4.00ms          0         0.0%              4.00ms
sgd                2  6.00ms  6.00ms  3.00ms  3.00ms  3.00ms  3.00ms  3.00ms     3.00ms        12.0%
convolution        2  4.00ms  6.00ms  3.00ms  3.00ms  3.00ms  3.00ms  3.00ms     2.00ms         8.0%
relu               2  4.00ms  4.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms     2.00ms         8.0%
add                2  4.00ms  4.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms     2.00ms         8.0%
ReluBackward       2  2.00ms  4.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms          0         0.0%              1.00ms
pad                2  2.00ms  2.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms     1.00ms         4.0%
linear             2  2.00ms  2.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms     1.00ms         4.0%
mul                2  2.00ms  2.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms          0         0.0%              1.00ms
LostBackward       2  2.00ms  2.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms          0         0.0%              1.00ms
all operators     20  36.0ms                                                     11.0ms                           7.00ms

$ trace backward && dwell report backward.dwell --view operators
operator         calls    self   total    mean     min     max     p50     p99  self/step  of the loop
relu                 2  6.00ms  6.00ms  3.00ms  2.00ms  4.00ms  2.00ms  4.00ms     6.00ms        19.4%
linear               3  4.00ms  4.00ms  2.00ms  1.00ms  3.00ms  2.00ms  3.00ms     4.00ms        12.9%
relu_backward        2  4.00ms  4.00ms  2.00ms  1.00ms  3.00ms  1.00ms  3.00ms     4.00ms        12.9%
mul                  1  3.00ms  3.00ms  3.00ms  3.00ms  3.00ms  3.00ms  3.00ms     3.00ms         9.7%
conv                 1  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms     2.00ms         6.5%
mul_backward         1  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms     2.00ms         6.5%
conv_backward        1  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms     2.00ms         6.5%
add                  1  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms     1.00ms         3.2%
linear_backward      1  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms     1.00ms         3.2%
all operators       13  25.0ms                                                     25.0ms

$ trace device_train && dwell report device_train.dwell --view operators --format json
{"dwell":1,"views":[
{"view":"operators","traces":["device_train.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"operator","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"share","label":"of operators","unit":"ratio","type":"real","sums":"self_ns","whole":150000},
  {"name":"self_per_step_ns","label":"self/step","unit":"ns","type":"real"},
  {"name":"loop_share","label":"of the loop","unit":"ratio","type":"real","sums":"self_per_step_ns","whole":451666.667},
  {"name":"other_threads_per_step_ns","label":"other threads/step","unit":"ns","type":"real"},
  {"name":"device_ns","label":"device","unit":"ns","type":"int"},
  {"name":"device_total_ns","label":"device total","unit":"ns","type":"int"},
  {"name":"device_events","label":"device events","unit":"count","type":"int"}],
 "rows":[
  ["aten::addmm",3,33000,33000,11000,11000,11000,11000,11000,0.22,11000,0.0243542435,null,300000,300000,3],
  ["aten::relu",3,33000,33000,11000,11000,11000,11000,11000,0.22,11000,0.0243542435,null,120000,120000,3],
  ["aten::norm",3,33000,33000,11000,11000,11000,11000,11000,0.22,11000,0.0243542435,null,180000,180000,3],
  ["aten::mm",3,33000,33000,11000,11000,11000,11000,11000,0.22,0,0,11000,900000,900000,3],
  ["autograd::engine::evaluate_function: AddmmBackward0",3,6000,45000,15000,15000,15000,15000,15000,0.04,0,0,2000,0,900000,0],
  ["aten::linear",3,6000,39000,13000,13000,13000,13000,13000,0.04,2000,0.00442804428,null,0,300000,0],
  ["AddmmBackward0",3,6000,39000,13000,13000,13000,13000,13000,0.04,0,0,2000,0,900000,0]],
 "totals":{"calls":21,"self_ns":150000,"self_per_step_ns":35000,"other_threads_per_step_ns":15000,"device_ns":1581000,"device_events":18},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report device_train.dwell --view operators --steps 1
Only step 1.

operator                                             calls    self   total    mean     min     max     p50     p99  self/step  of the loop  other threads/step  device  device total  device events
aten::addmm                                              1  11.0us  11.0us  11.0us  11.0us  11.0us  11.0us  11.0us     11.0us         1.8%                       100us         100us              1
aten::relu                                               1  11.0us  11.0us  11.0us  11.0us  11.0us  11.0us  11.0us     11.0us         1.8%                      40.0us        40.0us              1
aten::norm                                               1  11.0us  11.0us  11.0us  11.0us  11.0us  11.0us  11.0us     11.0us         1.8%                      60.0us        60.0us              1
aten::mm                                                 1  11.0us  11.0us  11.0us  11.0us  11.0us  11.0us  11.0us          0         0.0%              11.0us   300us         300us              1
autograd::engine::evaluate_function: AddmmBackward0      1  2.00us  15.0us  15.0us  15.0us  15.0us  15.0us  15.0us          0         0.0%              2.00us       0         300us              0
aten::linear                                             1  2.00us  13.0us  13.0us  13.0us  13.0us  13.0us  13.0us     2.00us         0.3%                           0         100us              0
AddmmBackward0                                           1  2.00us  13.0us  13.0us  13.0us  13.0us  13.0us  13.0us          0         0.0%              2.00us       0         300us              0
all operators                                            7  50.0us                                                     35.0us                           15.0us   527us                            6

$ trace calls && dwell report calls.dwell --view operators --group-by shape
operator                                                              shapes                                      calls    self   total    mean     min     max     p50     p99  of self time  self memory    memory   FLOPs
aten::clamp_min                                                       float32[8,32]                                   2  4.00ms  4.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms         67.0%            0         0
aten::linear                                                          float32[4,16], float32[32,16]                   1  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms         16.8%     -4.00KiB  -4.00KiB   4,096
aten::addmm                                                           float32[32], float32[8,16], float32[16,32]      2   804us   804us   402us   402us   402us   402us   402us         13.5%      8.00KiB   8.00KiB
aten::relu                                                            float32[8,32]                                   2  62.0us  4.06ms  2.03ms  2.03ms  2.03ms  2.03ms  2.03ms          1.0%            0         0     512
first                                                                                                                 2  40.0us  40.0us  20.0us  20.0us  20.0us  20.0us  20.0us          0.7%            0         0
second                                                                                                                2  40.0us  40.0us  20.0us  20.0us  20.0us  20.0us  20.0us          0.7%            0         0
aten::linear                                                          float32[8,16], float32[32,16]                   2  22.0us   826us   413us   413us   413us   413us   413us          0.4%            0   8.00KiB  16,384
a name that is much longer than any column of a table should ever be                                                  2  2.00us  2.00us  1.00us  1.00us  1.00us  1.00us  1.00us          0.0%            0         0
größe                                                                                                                 2  2.00us  2.00us  1.00us  1.00us  1.00us  1.00us  1.00us          0.0%            0         0
all                                                                                                                  17  5.97ms

2 calls overlapped others without nesting: neither counts as part of the other.

$ dwell report calls.dwell --view operators --group-by overload
operator                                                              overload  calls    self   total    mean     min     max     p50     p99  of self time  self memory    memory   FLOPs
aten::clamp_min                                                                     2  4.00ms  4.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms         67.0%            0         0
aten::linear                                                                        1  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms         16.8%     -4.00KiB  -4.00KiB   4,096
aten::addmm                                                                         2   804us   804us   402us   402us   402us   402us   402us         13.5%      8.00KiB   8.00KiB
aten::relu                                                                          2  62.0us  4.06ms  2.03ms  2.03ms  2.03ms  2.03ms  2.03ms          1.0%            0         0     512
first                                                                               2  40.0us  40.0us  20.0us  20.0us  20.0us  20.0us  20.0us          0.7%            0         0
second                                                                              2  40.0us  40.0us  20.0us  20.0us  20.0us  20.0us  20.0us          0.7%            0         0
aten::linear                                                          out           2  22.0us   826us   413us   413us   413us   413us   413us          0.4%            0   8.00KiB  16,384
a name that is much longer than any column of a table should ever be                2  2.00us  2.00us  1.00us  1.00us  1.00us  1.00us  1.00us          0.0%            0         0
größe                                                                               2  2.00us  2.00us  1.00us  1.00us  1.00us  1.00us  1.00us          0.0%            0         0
all                                                                                17  5.97ms

2 calls overlapped others without nesting: neither counts as part of the other.

$ dwell report calls.dwell --view operators --group-by stack:2
operator                                                              called from                                                calls    self   total    mean     min     max     p50     p99  of self time  self memory    memory   FLOPs
aten::clamp_min                                                       torch/nn/functional.py(1500): relu < net.py(13): forward       2  4.00ms  4.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms         67.0%            0         0
aten::linear                                                                                                                         1  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms         16.8%     -4.00KiB  -4.00KiB   4,096
aten::addmm                                                           torch/nn/functional.py(114): linear < net.py(12): forward      2   804us   804us   402us   402us   402us   402us   402us         13.5%      8.00KiB   8.00KiB
aten::relu                                                            torch/nn/functional.py(1500): relu < net.py(13): forward       2  62.0us  4.06ms  2.03ms  2.03ms  2.03ms  2.03ms  2.03ms          1.0%            0         0     512
first                                                                                                                                2  40.0us  40.0us  20.0us  20.0us  20.0us  20.0us  20.0us          0.7%            0         0
second                                                                                                                               2  40.0us  40.0us  20.0us  20.0us  20.0us  20.0us  20.0us          0.7%            0         0
aten::linear                                                          torch/nn/functional.py(114): linear < net.py(12): forward      2  22.0us   826us   413us   413us   413us   413us   413us          0.4%            0   8.00KiB  16,384
a name that is much longer than any column of a table should ever be                                                                 2  2.00us  2.00us  1.00us  1.00us  1.00us  1.00us  1.00us          0.0%            0         0
größe                                                                                                                                2  2.00us  2.00us  1.00us  1.00us  1.00us  1.00us  1.00us          0.0%            0         0
all                                                                                                                                 17  5.97ms

2 calls overlapped others without nesting: neither counts as part of the other.

$ dwell report calls.dwell --view operators --group-by shape,stack:1
operator                                                              shapes                                      called from                          calls    self   total    mean     min     max     p50     p99  of self time  self memory    memory   FLOPs
aten::clamp_min                                                       float32[8,32]                               torch/nn/functional.py(1500): relu       2  4.00ms  4.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms         67.0%            0         0
aten::linear                                                          float32[4,16], float32[32,16]                                                        1  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms         16.8%     -4.00KiB  -4.00KiB   4,096
aten::addmm                                                           float32[32], float32[8,16], float32[16,32]  torch/nn/functional.py(114): linear      2   804us   804us   402us   402us   402us   402us   402us         13.5%      8.00KiB   8.00KiB
aten::relu                                                            float32[8,32]                               torch/nn/functional.py(1500): relu       2  62.0us  4.06ms  2.03ms  2.03ms  2.03ms  2.03ms  2.03ms          1.0%            0         0     512
first                                                                                                                                                      2  40.0us  40.0us  20.0us  20.0us  20.0us  20.0us  20.0us          0.7%            0         0
second                                                                                                                                                     2  40.0us  40.0us  20.0us  20.0us  20.0us  20.0us  20.0us          0.7%            0         0
aten::linear                                                          float32[8,16], float32[32,16]               torch/nn/functional.py(114): linear      2  22.0us   826us   413us   413us   413us   413us   413us          0.4%            0   8.00KiB  16,384
a name that is much longer than any column of a table should ever be                                                                                       2  2.00us  2.00us  1.00us  1.00us  1.00us  1.00us  1.00us          0.0%            0         0
größe                                                                                                                                                      2  2.00us  2.00us  1.00us  1.00us  1.00us  1.00us  1.00us          0.0%            0         0
all                                                                                                                                                       17  5.97ms

2 calls overlapped others without nesting: neither counts as part of the other.

$ dwell report calls.dwell --view operators --group-by shape,stack:2 --format json
{"dwell":1,"views":[
{"view":"operators","traces":["calls.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"operator","unit":"","type":"text"},
  {"name":"shapes","label":"shapes","unit":"","type":"text"},
  {"name":"source","label":"called from","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"share","label":"of self time","unit":"ratio","type":"real","sums":"self_ns","whole":5973000},
  {"name":"self_bytes","label":"self memory","unit":"bytes","type":"int"},
  {"name":"total_bytes","label":"memory","unit":"bytes","type":"int"},
  {"name":"flops","label":"FLOPs","unit":"count","type":"int"},
  {"name":"input_shapes","label":"input shapes","unit":"","type":"text"},
  {"name":"stack","label":"stack","unit":"","type":"text"}],
 "rows":[
  ["aten::clamp_min","float32[8,32]","torch/nn/functional.py(1500): relu < net.py(13): forward",2,4000000,4000000,2000000,2000000,2000000,2000000,2000000,0.669680228,0,0,null,"[[8, 32]]","torch/nn/functional.py(1500): relu\nnet.py(13): forward"],
  ["aten::linear","float32[4,16], float32[32,16]",null,1,1001000,1001000,1001000,1001000,1001000,1001000,1001000,0.167587477,-4096,-4096,4096,"[[4, 16], [32, 16]]",null],
  ["aten::addmm","float32[32], float32[8,16], float32[16,32]","torch/nn/functional.py(114): linear < net.py(12): forward",2,804000,804000,402000,402000,402000,402000,402000,0.134605726,8192,8192,null,"[[32], [8, 16], [16, 32]]","torch/nn/functional.py(114): linear\nnet.py(12): forward"],
  ["aten::relu","float32[8,32]","torch/nn/functional.py(1500): relu < net.py(13): forward",2,62000,4062000,2031000,2031000,2031000,2031000,2031000,0.0103800435,0,0,512,"[[8, 32]]","torch/nn/functional.py(1500): relu\nnet.py(13): forward"],
  ["first","",null,2,40000,40000,20000,20000,20000,20000,20000,0.00669680228,0,0,null,"[]",null],
  ["second","",null,2,40000,40000,20000,20000,20000,20000,20000,0.00669680228,0,0,null,"[]",null],
  ["aten::linear","float32[8,16], float32[32,16]","torch/nn/functional.py(114): linear < net.py(12): forward",2,22000,826000,413000,413000,413000,413000,413000,0.00368324125,0,8192,16384,"[[8, 16], [32, 16]]","torch/nn/functional.py(114): linear\nnet.py(12): forward"],
  ["a name that is much longer than any column of a table should ever be","",null,2,2000,2000,1000,1000,1000,1000,1000,0.000334840114,0,0,null,"[]",null],
  ["größe","",null,2,2000,2000,1000,1000,1000,1000,1000,0.000334840114,0,0,null,"[]",null]],
 "totals":{"calls":17,"self_ns":5973000},
 "coverage":1,"losses":[],
 "notes":["2 calls overlapped others without nesting: neither counts as part of the other."]}
]}

$ dwell report calls.dwell --view operators --top-level
operator                                                              calls    self   total    mean     min     max     p50     p99  of self time  self memory   memory   FLOPs
aten::linear                                                              3  1.02ms  1.83ms   609us   413us  1.00ms   413us  1.00ms         17.1%     -4.00KiB  4.00KiB  20,480
aten::relu                                                                2  62.0us  4.06ms  2.03ms  2.03ms  2.03ms  2.03ms  2.03ms          1.0%            0        0     512
first                                                                     2  40.0us  40.0us  20.0us  20.0us  20.0us  20.0us  20.0us          0.7%            0        0
second                                                                    2  40.0us  40.0us  20.0us  20.0us  20.0us  20.0us  20.0us          0.7%            0        0
a name that is much longer than any column of a table should ever be      2  2.00us  2.00us  1.00us  1.00us  1.00us  1.00us  1.00us          0.0%            0        0
größe                                                                     2  2.00us  2.00us  1.00us  1.00us  1.00us  1.00us  1.00us          0.0%            0        0
all                                                                      13  1.17ms

2 calls overlapped others without nesting: neither counts as part of the other.

$ dwell report calls.dwell --view operators --time-unit us
operator                                                              calls   self us  total us   mean us    min us    max us    p50 us    p99 us  self/step us  of the loop  other threads/step us
aten::clamp_min                                                           2  4000.000  4000.000  2000.000  2000.000  2000.000  2000.000  2000.000      2000.000        65.1%
aten::linear                                                              3  1023.000  1827.000   609.000   413.000  1001.000   413.000  1001.000        11.000         0.4%                500.500
aten::addmm                                                               2   804.000   804.000   402.000   402.000   402.000   402.000   402.000       402.000        13.1%
aten::relu                                                                2    62.000  4062.000  2031.000  2031.000  2031.000  2031.000  2031.000        31.000         1.0%
second                                                                    2    40.000    40.000    20.000    20.000    20.000    20.000    20.000        20.000         0.7%
first                                                                     2    20.000    40.000    20.000    20.000    20.000    20.000    20.000        10.000         0.3%
a name that is much longer than any column of a table should ever be      2     2.000     2.000     1.000     1.000     1.000     1.000     1.000         1.000         0.0%
größe                                                                     2     2.000     2.000     1.000     1.000     1.000     1.000     1.000         1.000         0.0%
all operators                                                            17  5953.000                                                                  2476.000                             500.500

$ trace profiles && dwell report profiles.dwell --view operators --profile train --format json
{"dwell":1,"views":[
{"view":"operators","traces":["profiles.dwell"],"scope":{"profile":"train"},
 "columns":[
  {"name":"name","label":"operator","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"share","label":"of operators","unit":"ratio","type":"real","sums":"self_ns","whole":18000000}],
 "rows":[
  ["pooled",6,6000000,6000000,1000000,1000000,1000000,1000000,1000000,0.333333333],
  ["apart",5,5000000,5000000,1000000,1000000,1000000,1000000,1000000,0.277777778],
  ["matmul",2,4000000,6000000,3000000,3000000,3000000,3000000,3000000,0.222222222],
  ["gemm",3,3000000,3000000,1000000,1000000,1000000,1000000,1000000,0.166666667]],
 "totals":{"calls":16,"self_ns":18000000},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report profiles.dwell --view operators --profile late
Only profile late.

operator       calls    self   total    mean     min     max     p50     p99  of operators
matmul             2  4.00ms  6.00ms  3.00ms  3.00ms  3.00ms  3.00ms  3.00ms         28.6%
pooled             4  4.00ms  4.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms         28.6%
apart              4  4.00ms  4.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms         28.6%
gemm               2  2.00ms  2.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms         14.3%
all operators     12  14.0ms

$ dwell report profiles.dwell --view operators --profile own
Only profile own.

operator       calls    self   total    mean     min     max     p50     p99  of operators
pooled             1  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms         50.0%
apart              1  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms         50.0%
all operators      2  2.00ms

$ dwell report profiles.dwell --view operators --profile tarin
2> dwell: no profile 'tarin' in profiles.dwell; did you mean 'train'? (dwell info lists all)
[2]

$ trace empty && dwell report empty.dwell --view operators
2> dwell: empty.dwell has no operators: mark them with DWELL_OP("name"), or see --view actions
[1]

$ trace figures_threads && dwell report figures_threads.dwell --view operators
operator       calls    self   total    mean     min     max     p50     p99  self/step  of the loop  other threads/step
gemm_part         14   140ms   140ms  10.0ms  10.0ms  10.0ms  10.0ms  10.0ms          0         0.0%              6.67ms
gemm              12  72.0ms  72.0ms  6.00ms  6.00ms  6.00ms  6.00ms  6.00ms     6.00ms        60.0%
all operators     26   212ms                                                     6.00ms                           6.67ms

$ dwell report figures_threads.dwell --view operators --thread 'worker [22]'
Only thread worker [22].

operator       calls    self   total    mean     min     max     p50     p99  self/step  of the loop
gemm               4  24.0ms  24.0ms  6.00ms  6.00ms  6.00ms  6.00ms  6.00ms     6.00ms        60.0%
all operators      4  24.0ms                                                     6.00ms

$ trace one_place && dwell report one_place.dwell --view operators
operator       calls    self   total    mean     min     max     p50     p99  of operators
conv               1  4.00ms  4.00ms  4.00ms  4.00ms  4.00ms  4.00ms  4.00ms         57.1%
softmax            1  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms         28.6%
unplaced           1  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms         14.3%
all operators      3  7.00ms

$ dwell report one_place.dwell --view operators --format json
{"dwell":1,"views":[
{"view":"operators","traces":["one_place.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"operator","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"share","label":"of operators","unit":"ratio","type":"real","sums":"self_ns","whole":7000000},
  {"name":"place","label":"place","unit":"","type":"text"},
  {"name":"file","label":"file","unit":"","type":"text"}],
 "rows":[
  ["conv",1,4000000,4000000,4000000,4000000,4000000,4000000,4000000,0.571428571,"profile.c:12","src/profile.c"],
  ["softmax",1,2000000,2000000,2000000,2000000,2000000,2000000,2000000,0.285714286,"profile.c:12","src/profile.c"],
  ["unplaced",1,1000000,1000000,1000000,1000000,1000000,1000000,1000000,0.142857143,null,null]],
 "totals":{"calls":3,"self_ns":7000000},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ trace figures_recursion && dwell report figures_recursion.dwell --view operators
operator       calls    self   total    mean     min     max     p50     p99  self/step  of the loop
g                  2  4.00ms  4.00ms  3.00ms  2.00ms  4.00ms  2.00ms  4.00ms          0         0.0%
all operators      2  4.00ms                                                          0

# Of few steps, and long ones: counts and times of all are other multiples.
$ trace brief && dwell report brief.dwell --view operators
operator       calls    self   total    mean     min     max     p50     p99  self/step  of the loop
mm                 1  10.0ms  10.0ms  10.0ms  10.0ms  10.0ms  10.0ms  10.0ms     4.80ms        50.0%
all operators      1  10.0ms                                                     4.80ms

Operators and layers were recorded in 1 of 10 steps, chosen at random: totals are of these. For all steps multiply counts by about 10.0 and times by about 4.8.

$ trace reduced && dwell report reduced.dwell --view operators
operator       calls    self   total    mean     min     max     p50     p99  self/step  of the loop
mm                20  20.0ms  20.0ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms     10.0ms        47.8%
item               2  1.00ms  1.00ms   500us   500us   500us   500us   500us      450us         2.2%
all operators     22  21.0ms                                                     10.4ms

Operators and layers were recorded in 2 of 10 steps, chosen at random: totals are of these. For all steps multiply by about 5.0.
