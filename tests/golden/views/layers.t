$ trace layers && dwell report layers.dwell --view layers --format json
{"dwell":1,"views":[
{"view":"layers","traces":["layers.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"layer","unit":"","type":"text"},
  {"name":"path","label":"path","unit":"","type":"text"},
  {"name":"kind","label":"kind","unit":"","type":"text"},
  {"name":"type","label":"type","unit":"","type":"text"},
  {"name":"call","label":"call","unit":"","type":"int"},
  {"name":"start_ns","label":"start","unit":"ns","type":"int"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"operators_ns","label":"operators","unit":"ns","type":"int"},
  {"name":"share","label":"of operators","unit":"ratio","type":"real","of":"operators"},
  {"name":"backward_calls","label":"backward calls","unit":"count","type":"int"},
  {"name":"backward_ns","label":"backward","unit":"ns","type":"int"},
  {"name":"backward_total_ns","label":"backward total","unit":"ns","type":"int"},
  {"name":"device_ns","label":"device","unit":"ns","type":"int"},
  {"name":"device_total_ns","label":"device total","unit":"ns","type":"int"},
  {"name":"flops","label":"FLOPs, both passes","unit":"count","type":"int"},
  {"name":"parameters","label":"parameters","unit":"count","type":"int"},
  {"name":"self_bytes","label":"self memory","unit":"bytes","type":"int"},
  {"name":"total_bytes","label":"memory","unit":"bytes","type":"int"},
  {"name":"backward_bytes","label":"backward memory","unit":"bytes","type":"int"}],
 "rows":[
  ["Net","Net","layer",null,null,null,2,8000000,24000000,12000000,4000000,0.111111111,null,0,12000000,null,null,55296,null,0,1280,null],
  ["stem","Net.stem","layer",null,null,null,2,6000000,6000000,3000000,6000000,0.388888889,null,8000000,8000000,null,null,55296,null,1280,1280,null],
  ["block","Net.block","layer",null,null,null,0,null,null,null,0,0,null,0,4000000,null,null,0,null,0,0,null],
  ["0","Net.block.0","layer",null,null,null,2,4000000,4000000,2000000,4000000,0.222222222,null,4000000,4000000,null,null,0,null,0,0,null],
  ["1","Net.block.1","layer",null,null,null,2,4000000,4000000,2000000,0,0,null,0,0,null,null,0,null,0,0,null],
  ["head","Net.head","layer",null,null,null,2,2000000,2000000,1000000,2000000,0.0555555556,null,0,0,null,null,0,null,0,0,null],
  ["(outside layers)",null,"rest",null,null,null,null,null,null,null,6000000,0.222222222,null,2000000,2000000,null,null,0,null,-1280,-1280,null]],
 "totals":{"operators_ns":22000000,"share":1,"backward_ns":14000000,"backward_total_ns":14000000,"flops":55296,"self_bytes":0,"total_bytes":0},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report layers.dwell --view layers --events
layer               calls    self   total    mean  operators  of operators  backward calls  backward  backward total  FLOPs, both passes  self memory    memory
Net                     2  8.00ms  24.0ms  12.0ms     4.00ms         11.1%                         0          12.0ms              55,296            0   1.25KiB
  add                   2  4.00ms  4.00ms  2.00ms     4.00ms         11.1%               0         0               0                   0            0         0
  stem                  2  6.00ms  6.00ms  3.00ms     6.00ms         38.9%                    8.00ms          8.00ms              55,296      1.25KiB   1.25KiB
    convolution         2  4.00ms  6.00ms  3.00ms     4.00ms         11.1%               0         0               0              55,296      1.25KiB   1.25KiB
    pad                 2  2.00ms  2.00ms  1.00ms     2.00ms          5.6%               0         0               0                   0            0         0
    ConvBackward        0                                  0         22.2%               2    8.00ms          8.00ms                   0            0         0
  block                 0                                  0          0.0%                         0          4.00ms                   0            0         0
    0                   2  4.00ms  4.00ms  2.00ms     4.00ms         22.2%                    4.00ms          4.00ms                   0            0         0
      relu              2  4.00ms  4.00ms  2.00ms     4.00ms         11.1%               0         0               0                   0            0         0
      ReluBackward      0                                  0          5.6%               2    2.00ms          4.00ms                   0            0         0
      mul               0                                  0          5.6%               2    2.00ms          2.00ms                   0            0         0
    1                   2  4.00ms  4.00ms  2.00ms          0          0.0%                         0               0                   0            0         0
  head                  2  2.00ms  2.00ms  1.00ms     2.00ms          5.6%                         0               0                   0            0         0
    linear              2  2.00ms  2.00ms  1.00ms     2.00ms          5.6%               0         0               0                   0            0         0
(outside layers)                                      6.00ms         22.2%                    2.00ms          2.00ms                   0     -1.25KiB  -1.25KiB
  sgd                   2  6.00ms  6.00ms  3.00ms     6.00ms         16.7%               0         0               0                   0            0         0
  LostBackward          0                                  0          5.6%               2    2.00ms          2.00ms                   0            0         0
all operators                                         22.0ms        100.0%                    14.0ms          14.0ms              55,296            0         0

$ dwell report layers.dwell --view layers --per-call --events --paths Net.stem,Net.block
layer                 calls    self   total    mean  operators  of operators  backward calls  backward  backward total  FLOPs, both passes  self memory    memory
Net
  stem                    2  6.00ms  6.00ms  3.00ms     6.00ms         38.9%                    8.00ms          8.00ms              55,296      1.25KiB   1.25KiB
    call 0                1  3.00ms  3.00ms  3.00ms     3.00ms          8.3%                         0               0              27,648         640B      640B
      convolution         1  2.00ms  3.00ms  3.00ms     2.00ms          5.6%               0         0               0              27,648         640B      640B
      pad                 1  1.00ms  1.00ms  1.00ms     1.00ms          2.8%               0         0               0                   0            0         0
    call 1                1  3.00ms  3.00ms  3.00ms     3.00ms         30.6%                    8.00ms          8.00ms              27,648         640B      640B
      convolution         1  2.00ms  3.00ms  3.00ms     2.00ms          5.6%               0         0               0              27,648         640B      640B
      pad                 1  1.00ms  1.00ms  1.00ms     1.00ms          2.8%               0         0               0                   0            0         0
      ConvBackward        0                                  0         22.2%               2    8.00ms          8.00ms                   0            0         0
  block                   0                                  0          0.0%                         0          4.00ms                   0            0         0
    0                     2  4.00ms  4.00ms  2.00ms     4.00ms         22.2%                    4.00ms          4.00ms                   0            0         0
      call 0              1  2.00ms  2.00ms  2.00ms     2.00ms         16.7%                    4.00ms          4.00ms                   0            0         0
        relu              1  2.00ms  2.00ms  2.00ms     2.00ms          5.6%               0         0               0                   0            0         0
        ReluBackward      0                                  0          5.6%               2    2.00ms          4.00ms                   0            0         0
        mul               0                                  0          5.6%               2    2.00ms          2.00ms                   0            0         0
      call 1              1  2.00ms  2.00ms  2.00ms     2.00ms          5.6%                         0               0                   0            0         0
        relu              1  2.00ms  2.00ms  2.00ms     2.00ms          5.6%               0         0               0                   0            0         0
    1                     2  4.00ms  4.00ms  2.00ms          0          0.0%                         0               0                   0            0         0
      call 0              1  2.00ms  2.00ms  2.00ms          0          0.0%                         0               0                   0            0         0
      call 1              1  2.00ms  2.00ms  2.00ms          0          0.0%                         0               0                   0            0         0
(other layers)                                          6.00ms         16.7%                         0               0                   0            0         0
(outside layers)                                        6.00ms         22.2%                    2.00ms          2.00ms                   0     -1.25KiB  -1.25KiB
  sgd                     2  6.00ms  6.00ms  3.00ms     6.00ms         16.7%               0         0               0                   0            0         0
  LostBackward            0                                  0          5.6%               2    2.00ms          2.00ms                   0            0         0
all operators                                           22.0ms        100.0%                    14.0ms          14.0ms              55,296            0         0

$ dwell report layers.dwell --view layers --leaves --sort backward
layer             calls    self   total    mean  operators  of operators  backward  backward total  FLOPs, both passes  self memory    memory
Net.stem              2  6.00ms  6.00ms  3.00ms     6.00ms         38.9%    8.00ms          8.00ms              55,296      1.25KiB   1.25KiB
Net.block.0           2  4.00ms  4.00ms  2.00ms     4.00ms         22.2%    4.00ms          4.00ms                   0            0         0
(outside layers)                                    6.00ms         22.2%    2.00ms          2.00ms                   0     -1.25KiB  -1.25KiB
Net.block.1           2  4.00ms  4.00ms  2.00ms          0          0.0%         0               0                   0            0         0
Net.head              2  2.00ms  2.00ms  1.00ms     2.00ms          5.6%         0               0                   0            0         0
(other layers)                                      4.00ms         11.1%         0               0                   0            0         0
all operators                                       22.0ms        100.0%    14.0ms          14.0ms              55,296            0         0

$ dwell report layers.dwell --view layers --paths 'Net.*m,Net.block.0'
layer             calls    self   total    mean  operators  of operators  backward  backward total  FLOPs, both passes  self memory    memory
Net
  stem                2  6.00ms  6.00ms  3.00ms     6.00ms         38.9%    8.00ms          8.00ms              55,296      1.25KiB   1.25KiB
  block
    0                 2  4.00ms  4.00ms  2.00ms     4.00ms         22.2%    4.00ms          4.00ms                   0            0         0
(other layers)                                      6.00ms         16.7%         0               0                   0            0         0
(outside layers)                                    6.00ms         22.2%    2.00ms          2.00ms                   0     -1.25KiB  -1.25KiB
all operators                                       22.0ms        100.0%    14.0ms          14.0ms              55,296            0         0

$ dwell report layers.dwell --view layers --per-call --events --format json
{"dwell":1,"views":[
{"view":"layers","traces":["layers.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"layer","unit":"","type":"text"},
  {"name":"path","label":"path","unit":"","type":"text"},
  {"name":"kind","label":"kind","unit":"","type":"text"},
  {"name":"type","label":"type","unit":"","type":"text"},
  {"name":"call","label":"call","unit":"","type":"int"},
  {"name":"start_ns","label":"start","unit":"ns","type":"int"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"operators_ns","label":"operators","unit":"ns","type":"int"},
  {"name":"share","label":"of operators","unit":"ratio","type":"real","of":"operators"},
  {"name":"backward_calls","label":"backward calls","unit":"count","type":"int"},
  {"name":"backward_ns","label":"backward","unit":"ns","type":"int"},
  {"name":"backward_total_ns","label":"backward total","unit":"ns","type":"int"},
  {"name":"device_ns","label":"device","unit":"ns","type":"int"},
  {"name":"device_total_ns","label":"device total","unit":"ns","type":"int"},
  {"name":"flops","label":"FLOPs, both passes","unit":"count","type":"int"},
  {"name":"parameters","label":"parameters","unit":"count","type":"int"},
  {"name":"self_bytes","label":"self memory","unit":"bytes","type":"int"},
  {"name":"total_bytes","label":"memory","unit":"bytes","type":"int"},
  {"name":"backward_bytes","label":"backward memory","unit":"bytes","type":"int"}],
 "rows":[
  ["Net","Net","layer",null,null,null,2,8000000,24000000,12000000,4000000,0.111111111,null,0,12000000,null,null,55296,null,0,1280,null],
  ["call 0","Net","call",null,0,10000000,1,4000000,12000000,12000000,2000000,0.0555555556,null,0,4000000,null,null,27648,null,0,640,null],
  ["add","Net","operator",null,0,null,1,2000000,2000000,2000000,2000000,0.0555555556,0,0,0,null,null,0,null,0,0,null],
  ["call 1","Net","call",null,1,35000000,1,4000000,12000000,12000000,2000000,0.0555555556,null,0,8000000,null,null,27648,null,0,640,null],
  ["add","Net","operator",null,1,null,1,2000000,2000000,2000000,2000000,0.0555555556,0,0,0,null,null,0,null,0,0,null],
  ["stem","Net.stem","layer",null,null,null,2,6000000,6000000,3000000,6000000,0.388888889,null,8000000,8000000,null,null,55296,null,1280,1280,null],
  ["call 0","Net.stem","call",null,0,11000000,1,3000000,3000000,3000000,3000000,0.0833333333,null,0,0,null,null,27648,null,640,640,null],
  ["convolution","Net.stem","operator",null,0,null,1,2000000,3000000,3000000,2000000,0.0555555556,0,0,0,null,null,27648,null,640,640,null],
  ["pad","Net.stem","operator",null,0,null,1,1000000,1000000,1000000,1000000,0.0277777778,0,0,0,null,null,0,null,0,0,null],
  ["call 1","Net.stem","call",null,1,36000000,1,3000000,3000000,3000000,3000000,0.305555556,null,8000000,8000000,null,null,27648,null,640,640,null],
  ["convolution","Net.stem","operator",null,1,null,1,2000000,3000000,3000000,2000000,0.0555555556,0,0,0,null,null,27648,null,640,640,null],
  ["pad","Net.stem","operator",null,1,null,1,1000000,1000000,1000000,1000000,0.0277777778,0,0,0,null,null,0,null,0,0,null],
  ["ConvBackward","Net.stem","operator",null,1,null,0,null,null,null,0,0.222222222,2,8000000,8000000,null,null,0,null,0,0,null],
  ["block","Net.block","layer",null,null,null,0,null,null,null,0,0,null,0,4000000,null,null,0,null,0,0,null],
  ["0","Net.block.0","layer",null,null,null,2,4000000,4000000,2000000,4000000,0.222222222,null,4000000,4000000,null,null,0,null,0,0,null],
  ["call 0","Net.block.0","call",null,0,14000000,1,2000000,2000000,2000000,2000000,0.166666667,null,4000000,4000000,null,null,0,null,0,0,null],
  ["relu","Net.block.0","operator",null,0,null,1,2000000,2000000,2000000,2000000,0.0555555556,0,0,0,null,null,0,null,0,0,null],
  ["ReluBackward","Net.block.0","operator",null,0,null,0,null,null,null,0,0.0555555556,2,2000000,4000000,null,null,0,null,0,0,null],
  ["mul","Net.block.0","operator",null,0,null,0,null,null,null,0,0.0555555556,2,2000000,2000000,null,null,0,null,0,0,null],
  ["call 1","Net.block.0","call",null,1,39000000,1,2000000,2000000,2000000,2000000,0.0555555556,null,0,0,null,null,0,null,0,0,null],
  ["relu","Net.block.0","operator",null,1,null,1,2000000,2000000,2000000,2000000,0.0555555556,0,0,0,null,null,0,null,0,0,null],
  ["1","Net.block.1","layer",null,null,null,2,4000000,4000000,2000000,0,0,null,0,0,null,null,0,null,0,0,null],
  ["call 0","Net.block.1","call",null,0,16000000,1,2000000,2000000,2000000,0,0,null,0,0,null,null,0,null,0,0,null],
  ["call 1","Net.block.1","call",null,1,41000000,1,2000000,2000000,2000000,0,0,null,0,0,null,null,0,null,0,0,null],
  ["head","Net.head","layer",null,null,null,2,2000000,2000000,1000000,2000000,0.0555555556,null,0,0,null,null,0,null,0,0,null],
  ["call 0","Net.head","call",null,0,20000000,1,1000000,1000000,1000000,1000000,0.0277777778,null,0,0,null,null,0,null,0,0,null],
  ["linear","Net.head","operator",null,0,null,1,1000000,1000000,1000000,1000000,0.0277777778,0,0,0,null,null,0,null,0,0,null],
  ["call 1","Net.head","call",null,1,45000000,1,1000000,1000000,1000000,1000000,0.0277777778,null,0,0,null,null,0,null,0,0,null],
  ["linear","Net.head","operator",null,1,null,1,1000000,1000000,1000000,1000000,0.0277777778,0,0,0,null,null,0,null,0,0,null],
  ["(outside layers)",null,"rest",null,null,null,null,null,null,null,6000000,0.222222222,null,2000000,2000000,null,null,0,null,-1280,-1280,null],
  ["sgd",null,"operator",null,null,null,2,6000000,6000000,3000000,6000000,0.166666667,0,0,0,null,null,0,null,0,0,null],
  ["LostBackward",null,"operator",null,null,null,0,null,null,null,0,0.0555555556,2,2000000,2000000,null,null,0,null,0,0,null]],
 "totals":{"operators_ns":22000000,"share":1,"backward_ns":14000000,"backward_total_ns":14000000,"flops":55296,"self_bytes":0,"total_bytes":0},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report layers.dwell --view layers --paths Net.stem,Net.blok
2> dwell: no layer 'Net.blok' in layers.dwell; did you mean 'Net.block'?
[2]

$ dwell report layers.dwell --view layers --steps 0 --thread train
Only step 0, thread train.

layer             calls    self   total    mean  operators  of operators   FLOPs  self memory  memory
Net                   1  4.00ms  12.0ms  12.0ms     2.00ms         18.2%  27,648            0    640B
  stem                1  3.00ms  3.00ms  3.00ms     3.00ms         27.3%  27,648         640B    640B
  block               0                                  0          0.0%       0            0       0
    0                 1  2.00ms  2.00ms  2.00ms     2.00ms         18.2%       0            0       0
    1                 1  2.00ms  2.00ms  2.00ms          0          0.0%       0            0       0
  head                1  1.00ms  1.00ms  1.00ms     1.00ms          9.1%       0            0       0
(outside layers)                                    3.00ms         27.3%       0        -640B   -640B
all operators                                       11.0ms        100.0%  27,648            0       0

$ trace backward && dwell report backward.dwell --view layers
layer             calls    self   total    mean  operators  of operators  backward  backward total  device  device total  self memory   memory  backward memory
Net                   1       0  21.0ms  21.0ms          0          0.0%         0          9.00ms       0        7.00ms            0  0.98KiB                0
  stem                1  7.00ms  7.00ms  7.00ms     2.00ms         16.0%    2.00ms          2.00ms  5.00ms        5.00ms            0        0         -0.98KiB
  block               1       0  10.0ms  10.0ms          0          0.0%         0          4.00ms       0             0            0  0.98KiB                0
    a                 1  4.00ms  4.00ms  4.00ms     4.00ms         16.0%         0               0       0             0      0.98KiB  0.98KiB                0
    shared            2  6.00ms  6.00ms  3.00ms     6.00ms         40.0%    4.00ms          4.00ms       0             0            0        0                0
  deep                0                                  0          0.0%         0          2.00ms       0             0            0        0                0
    x                 0                                  0          0.0%         0          2.00ms       0             0            0        0                0
      y               0                                  0          0.0%         0          2.00ms       0             0            0        0                0
        z             1  3.00ms  3.00ms  3.00ms     3.00ms         20.0%    2.00ms          2.00ms       0             0            0        0                0
  head                1  1.00ms  1.00ms  1.00ms     1.00ms          8.0%    1.00ms          1.00ms  2.00ms        2.00ms            0        0                0
(outside layers)                                         0          0.0%         0               0       0             0            0        0                0
all operators                                       16.0ms        100.0%    9.00ms          9.00ms  7.00ms        7.00ms      0.98KiB  0.98KiB         -0.98KiB

$ dwell report backward.dwell --view layers --per-call --events
layer                     calls    self   total    mean  operators  of operators  backward calls  backward  backward total  device  device total  self memory   memory  backward memory
Net                           1       0  21.0ms  21.0ms          0          0.0%                         0          9.00ms       0        7.00ms            0  0.98KiB                0
  call 0                      1       0  21.0ms  21.0ms          0          0.0%                         0          9.00ms       0        7.00ms            0  0.98KiB                0
  stem                        1  7.00ms  7.00ms  7.00ms     2.00ms         16.0%                    2.00ms          2.00ms  5.00ms        5.00ms            0        0         -0.98KiB
    call 0                    1  7.00ms  7.00ms  7.00ms     2.00ms         16.0%                    2.00ms          2.00ms  5.00ms        5.00ms            0        0         -0.98KiB
      conv                    1  2.00ms  2.00ms  2.00ms     2.00ms          8.0%               0         0               0       0             0            0        0                0
      conv_backward           0                                  0          8.0%               1    2.00ms          2.00ms       0             0            0        0         -0.98KiB
  block                       1       0  10.0ms  10.0ms          0          0.0%                         0          4.00ms       0             0            0  0.98KiB                0
    call 0                    1       0  10.0ms  10.0ms          0          0.0%                         0          4.00ms       0             0            0  0.98KiB                0
    a                         1  4.00ms  4.00ms  4.00ms     4.00ms         16.0%                         0               0       0             0      0.98KiB  0.98KiB                0
      call 0                  1  4.00ms  4.00ms  4.00ms     4.00ms         16.0%                         0               0       0             0      0.98KiB  0.98KiB                0
        linear                2  3.00ms  3.00ms  1.50ms     3.00ms         12.0%               0         0               0       0             0      0.98KiB  0.98KiB                0
        add                   1  1.00ms  1.00ms  1.00ms     1.00ms          4.0%               0         0               0       0             0            0        0                0
    shared                    2  6.00ms  6.00ms  3.00ms     6.00ms         40.0%                    4.00ms          4.00ms       0             0            0        0                0
      call 0                  1  2.00ms  6.00ms  6.00ms     2.00ms         12.0%                    1.00ms          4.00ms       0             0            0        0                0
        relu                  1  2.00ms  2.00ms  2.00ms     2.00ms          8.0%               0         0               0       0             0            0        0                0
        relu_backward         0                                  0          4.0%               1    1.00ms          1.00ms       0             0            0        0                0
      call 1                  1  4.00ms  4.00ms  4.00ms     4.00ms         28.0%                    3.00ms          3.00ms       0             0            0        0                0
        relu                  1  4.00ms  4.00ms  4.00ms     4.00ms         16.0%               0         0               0       0             0            0        0                0
        relu_backward         0                                  0         12.0%               1    3.00ms          3.00ms       0             0            0        0                0
  deep                        0                                  0          0.0%                         0          2.00ms       0             0            0        0                0
    x                         0                                  0          0.0%                         0          2.00ms       0             0            0        0                0
      y                       0                                  0          0.0%                         0          2.00ms       0             0            0        0                0
        z                     1  3.00ms  3.00ms  3.00ms     3.00ms         20.0%                    2.00ms          2.00ms       0             0            0        0                0
          call 0              1  3.00ms  3.00ms  3.00ms     3.00ms         20.0%                    2.00ms          2.00ms       0             0            0        0                0
            mul               1  3.00ms  3.00ms  3.00ms     3.00ms         12.0%               0         0               0       0             0            0        0                0
            mul_backward      0                                  0          8.0%               1    2.00ms          2.00ms       0             0            0        0                0
  head                        1  1.00ms  1.00ms  1.00ms     1.00ms          8.0%                    1.00ms          1.00ms  2.00ms        2.00ms            0        0                0
    call 0                    1  1.00ms  1.00ms  1.00ms     1.00ms          8.0%                    1.00ms          1.00ms  2.00ms        2.00ms            0        0                0
      linear                  1  1.00ms  1.00ms  1.00ms     1.00ms          4.0%               0         0               0       0             0            0        0                0
      linear_backward         0                                  0          4.0%               1    1.00ms          1.00ms       0             0            0        0                0
(outside layers)                                                 0          0.0%                         0               0       0             0            0        0                0
all operators                                               16.0ms        100.0%                    9.00ms          9.00ms  7.00ms        7.00ms      0.98KiB  0.98KiB         -0.98KiB

$ trace device_train && dwell report device_train.dwell --view layers --format json
{"dwell":1,"views":[
{"view":"layers","traces":["device_train.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"layer","unit":"","type":"text"},
  {"name":"path","label":"path","unit":"","type":"text"},
  {"name":"kind","label":"kind","unit":"","type":"text"},
  {"name":"type","label":"type","unit":"","type":"text"},
  {"name":"call","label":"call","unit":"","type":"int"},
  {"name":"start_ns","label":"start","unit":"ns","type":"int"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"operators_ns","label":"operators","unit":"ns","type":"int"},
  {"name":"share","label":"of operators","unit":"ratio","type":"real","of":"operators"},
  {"name":"backward_calls","label":"backward calls","unit":"count","type":"int"},
  {"name":"backward_ns","label":"backward","unit":"ns","type":"int"},
  {"name":"backward_total_ns","label":"backward total","unit":"ns","type":"int"},
  {"name":"device_ns","label":"device","unit":"ns","type":"int"},
  {"name":"device_total_ns","label":"device total","unit":"ns","type":"int"},
  {"name":"flops","label":"FLOPs, both passes","unit":"count","type":"int"},
  {"name":"parameters","label":"parameters","unit":"count","type":"int"},
  {"name":"self_bytes","label":"self memory","unit":"bytes","type":"int"},
  {"name":"total_bytes","label":"memory","unit":"bytes","type":"int"},
  {"name":"backward_bytes","label":"backward memory","unit":"bytes","type":"int"},
  {"name":"backward_device_ns","label":"backward device","unit":"ns","type":"int"},
  {"name":"backward_device_total_ns","label":"backward device total","unit":"ns","type":"int"},
  {"name":"device_events","label":"device events","unit":"count","type":"int"}],
 "rows":[
  ["Net","Net","layer","Net",null,null,3,39000,123000,41000,0,0,null,0,45000,21000,441000,3072,null,null,null,null,0,900000,3],
  ["fc","Net.fc","layer","Linear",null,null,3,45000,45000,15000,39000,0.56,null,45000,45000,300000,300000,3072,null,null,null,null,900000,900000,6],
  ["act","Net.act","layer","ReLU",null,null,3,39000,39000,13000,33000,0.22,null,0,0,120000,120000,0,null,null,null,null,0,0,3],
  ["(outside layers)",null,"rest",null,null,null,null,null,null,null,33000,0.22,null,0,0,240000,240000,0,null,null,null,null,0,0,6]],
 "totals":{"operators_ns":105000,"share":1,"backward_ns":45000,"backward_total_ns":45000,"device_ns":681000,"device_total_ns":681000,"flops":3072,"backward_device_ns":900000,"backward_device_total_ns":900000,"device_events":18},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report device_train.dwell --view layers --per-call --events
layer                                                      calls    self   total    mean  operators  of operators  backward calls  backward  backward total  device  device total  FLOPs, both passes  backward device  backward device total  device events
Net                                                            3  39.0us   123us  41.0us          0          0.0%                         0          45.0us  21.0us         441us               3,072                0                  900us              3
  call 0                                                       1  13.0us  41.0us  41.0us          0          0.0%                         0          15.0us  7.00us         147us               1,024                0                  300us              1
  call 1                                                       1  13.0us  41.0us  41.0us          0          0.0%                         0          15.0us  7.00us         147us               1,024                0                  300us              1
  call 2                                                       1  13.0us  41.0us  41.0us          0          0.0%                         0          15.0us  7.00us         147us               1,024                0                  300us              1
  fc                                                           3  45.0us  45.0us  15.0us     39.0us         56.0%                    45.0us          45.0us   300us         300us               3,072            900us                  900us              6
    call 0                                                     1  15.0us  15.0us  15.0us     13.0us         18.7%                    15.0us          15.0us   100us         100us               1,024            300us                  300us              2
      aten::linear                                             1  2.00us  13.0us  13.0us     2.00us          1.3%               0         0               0       0         100us               1,024                0                      0              0
      aten::addmm                                              1  11.0us  11.0us  11.0us     11.0us          7.3%               0         0               0   100us         100us                   0                0                      0              1
      autograd::engine::evaluate_function: AddmmBackward0      0                                  0          1.3%               1    2.00us          15.0us       0             0                   0                0                      0              0
      AddmmBackward0                                           0                                  0          1.3%               1    2.00us          13.0us       0             0                   0                0                      0              0
      aten::mm                                                 0                                  0          7.3%               1    11.0us          11.0us       0             0                   0            300us                  300us              1
    call 1                                                     1  15.0us  15.0us  15.0us     13.0us         18.7%                    15.0us          15.0us   100us         100us               1,024            300us                  300us              2
      aten::linear                                             1  2.00us  13.0us  13.0us     2.00us          1.3%               0         0               0       0         100us               1,024                0                      0              0
      aten::addmm                                              1  11.0us  11.0us  11.0us     11.0us          7.3%               0         0               0   100us         100us                   0                0                      0              1
      autograd::engine::evaluate_function: AddmmBackward0      0                                  0          1.3%               1    2.00us          15.0us       0             0                   0                0                      0              0
      AddmmBackward0                                           0                                  0          1.3%               1    2.00us          13.0us       0             0                   0                0                      0              0
      aten::mm                                                 0                                  0          7.3%               1    11.0us          11.0us       0             0                   0            300us                  300us              1
    call 2                                                     1  15.0us  15.0us  15.0us     13.0us         18.7%                    15.0us          15.0us   100us         100us               1,024            300us                  300us              2
      aten::linear                                             1  2.00us  13.0us  13.0us     2.00us          1.3%               0         0               0       0         100us               1,024                0                      0              0
      aten::addmm                                              1  11.0us  11.0us  11.0us     11.0us          7.3%               0         0               0   100us         100us                   0                0                      0              1
      autograd::engine::evaluate_function: AddmmBackward0      0                                  0          1.3%               1    2.00us          15.0us       0             0                   0                0                      0              0
      AddmmBackward0                                           0                                  0          1.3%               1    2.00us          13.0us       0             0                   0                0                      0              0
      aten::mm                                                 0                                  0          7.3%               1    11.0us          11.0us       0             0                   0            300us                  300us              1
  act                                                          3  39.0us  39.0us  13.0us     33.0us         22.0%                         0               0   120us         120us                   0                0                      0              3
    call 0                                                     1  13.0us  13.0us  13.0us     11.0us          7.3%                         0               0  40.0us        40.0us                   0                0                      0              1
      aten::relu                                               1  11.0us  11.0us  11.0us     11.0us          7.3%               0         0               0  40.0us        40.0us                   0                0                      0              1
    call 1                                                     1  13.0us  13.0us  13.0us     11.0us          7.3%                         0               0  40.0us        40.0us                   0                0                      0              1
      aten::relu                                               1  11.0us  11.0us  11.0us     11.0us          7.3%               0         0               0  40.0us        40.0us                   0                0                      0              1
    call 2                                                     1  13.0us  13.0us  13.0us     11.0us          7.3%                         0               0  40.0us        40.0us                   0                0                      0              1
      aten::relu                                               1  11.0us  11.0us  11.0us     11.0us          7.3%               0         0               0  40.0us        40.0us                   0                0                      0              1
(outside layers)                                                                             33.0us         22.0%                         0               0   240us         240us                   0                0                      0              6
  aten::norm                                                   3  33.0us  33.0us  11.0us     33.0us         22.0%               0         0               0   180us         180us                   0                0                      0              3
all operators                                                                                 105us        100.0%                    45.0us          45.0us   681us         681us               3,072            900us                  900us             18

$ trace figures_layers && dwell report figures_layers.dwell --view layers
layer       calls    self   total    mean  of layers
net             4       0  40.0ms  10.0ms       0.0%
  conv          4  36.0ms  36.0ms  9.00ms      90.0%
  fc            4  4.00ms  4.00ms  1.00ms      10.0%
all layers     12  40.0ms

$ trace reduced && dwell report reduced.dwell --view layers
layer             calls    self   total    mean  operators  of operators
net                   2  20.0ms  20.0ms  10.0ms     20.0ms         95.2%
(outside layers)                                    1.00ms          4.8%
all operators                                       21.0ms        100.0%

Operators and layers were recorded in 2 of 10 steps, chosen at random: totals are of these. For all steps multiply by about 5.0.
