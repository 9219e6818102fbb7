$ trace device_train && dwell report device_train.dwell --view sequence --format json
{"dwell":1,"views":[
{"view":"sequence","traces":["device_train.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"operator","unit":"","type":"text"},
  {"name":"op_id","label":"OP_ID","unit":"","type":"int"},
  {"name":"phase","label":"phase","unit":"","type":"text"},
  {"name":"repeats","label":"repeats","unit":"count","type":"int"},
  {"name":"iterations","label":"iterations","unit":"count","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"real"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"std_ns","label":"std","unit":"ns","type":"real"},
  {"name":"share","label":"of a step","unit":"ratio","type":"real","of":"a step"},
  {"name":"drift","label":"drift","unit":"ratio","type":"real","of":"its median time"},
  {"name":"device_ns","label":"device","unit":"ns","type":"real"},
  {"name":"device_events","label":"device events","unit":"count","type":"real"}],
 "rows":[
  ["aten::linear",0,"forward",1,3,13000,13000,13000,13000,0,0.0838709677,null,100000,1],
  ["aten::relu",1,"forward",1,3,11000,11000,11000,11000,0,0.0709677419,null,40000,1],
  ["autograd::engine::evaluate_function: AddmmBackward0",2,"backward",1,3,15000,15000,15000,15000,0,0.0967741935,null,300000,1],
  ["aten::norm",3,null,1,3,11000,11000,11000,11000,0,0.0709677419,null,60000,1]],
 "totals":{"iterations":3,"mean_ns":50000,"share":0.322580645,"device_ns":500000,"device_events":4},
 "coverage":1,"losses":[],
 "heads":["3 iterations of 155 us on average from begin to end."],
 "notes":[]},
{"view":"sequence","part":"positions","traces":["device_train.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"operator","unit":"","type":"text"},
  {"name":"op_id","label":"OP_ID","unit":"","type":"int"},
  {"name":"phase","label":"phase","unit":"","type":"text"},
  {"name":"repeats","label":"repeats","unit":"count","type":"int"},
  {"name":"iterations","label":"iterations","unit":"count","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"real"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"std_ns","label":"std","unit":"ns","type":"real"},
  {"name":"share","label":"of a step","unit":"ratio","type":"real","of":"a step"},
  {"name":"drift","label":"drift","unit":"ratio","type":"real","of":"its median time"},
  {"name":"device_ns","label":"device","unit":"ns","type":"real"},
  {"name":"device_events","label":"device events","unit":"count","type":"real"}],
 "rows":[
  ["aten::linear",0,"forward",1,3,13000,13000,13000,13000,0,0.0838709677,null,100000,1],
  ["aten::relu",1,"forward",1,3,11000,11000,11000,11000,0,0.0709677419,null,40000,1],
  ["autograd::engine::evaluate_function: AddmmBackward0",2,"backward",1,3,15000,15000,15000,15000,0,0.0967741935,null,300000,1],
  ["aten::norm",3,null,1,3,11000,11000,11000,11000,0,0.0709677419,null,60000,1]],
 "totals":{"iterations":3,"mean_ns":50000,"share":0.322580645,"device_ns":500000,"device_events":4},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ trace singa && dwell report singa.dwell --view sequence
15 iterations of 3.00 ms on average from begin to end.

operator                              OP_ID  iterations    mean     min    max    p99    std  of a step  drift
SetValue                                  0          15   130us  20.1us  350us  350us  161us       4.3%
cudnnConvForward                          1          15   700us   600us  900us  900us  146us      23.4%
ReLU                                      2          15   400us   300us  600us  600us  146us      13.3%
SoftmaxCrossEntropy                       3          15   200us   100us  400us  400us  146us       6.7%
SoftmaxCrossEntropyBackward               4          15   200us   100us  400us  400us  146us       6.7%
ReLUBackward                              5          15   500us   400us  700us  700us  146us      16.7%
ConvForward (recomputed in backward)      6          15   300us   200us  500us  500us  146us      10.0%
Dist_s_fusedSynch_allreduce               7          15   300us   200us  500us  500us  146us      10.0%
Waiting                                   8          15   101us  1.00us  301us  301us  146us       3.4%
SGDUpdate                                 9          15   163us  50.1us  390us  390us  166us       5.5%
all operators                                        15  2.99ms                                   99.9%

$ dwell report singa.dwell --view sequence --skip-iteration 99
2> dwell: the first 99 iterations are skipped, and there are no more than 15 here: skip fewer (--skip-iteration 14 leaves one)
[1]

$ trace sequence && dwell report sequence.dwell --view sequence --format json
{"dwell":1,"views":[
{"view":"sequence","traces":["sequence.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"operator","unit":"","type":"text"},
  {"name":"op_id","label":"OP_ID","unit":"","type":"int"},
  {"name":"phase","label":"phase","unit":"","type":"text"},
  {"name":"repeats","label":"repeats","unit":"count","type":"int"},
  {"name":"iterations","label":"iterations","unit":"count","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"real"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"std_ns","label":"std","unit":"ns","type":"real"},
  {"name":"share","label":"of a step","unit":"ratio","type":"real","of":"a step"},
  {"name":"drift","label":"drift","unit":"ratio","type":"real","of":"its median time"}],
 "rows":[
  ["init_workspace",0,null,1,1,500000,500000,500000,500000,0,0.00357334286,null],
  ["copy",1,null,1,40,20000,20000,20000,20000,0,0.00571734858,null],
  ["x4: 3 operators",2,null,4,null,271900,null,null,null,null,0.310909416,null],
  ["layer_norm",2,"forward",4,40,30000,30000,30000,30000,0,0.0343040915,null],
  ["linear",3,"forward",4,40,201900,201000,203000,202752,833.270438,0.230866536,null],
  ["gelu",4,"forward",4,40,40000,40000,40000,40000,0,0.0457387886,null],
  ["dropout",14,"forward",1,10,25000,25000,25000,25000,0,0.00178667143,null],
  ["head",15,"forward",1,40,145000,100000,190000,190000,29088.7237,0.0414507772,0.672409156],
  ["log_softmax",16,"forward",1,20,15000,15000,15000,15000,0,0.00214400572,null],
  ["loss_backward",17,"backward",1,40,10000,10000,10000,10000,0,0.00285867429,null],
  ["x4: 3 operators",18,null,4,null,510000,null,null,null,null,0.583169555,null],
  ["gelu_backward",18,"backward",4,40,50000,50000,50000,50000,0,0.0571734858,null],
  ["linear_backward",19,"backward",4,40,400000,400000,400000,400000,0,0.457387886,null],
  ["norm_backward",20,"backward",4,40,60000,60000,60000,60000,0,0.068608183,null],
  ["sgd",30,"other",1,40,100500,80000,900000,900000,129653.384,0.0287296766,null]],
 "totals":{"iterations":40,"mean_ns":3429350,"share":0.980339468},
 "coverage":1,"losses":[],
 "heads":["40 iterations of 3.50 ms on average from begin to end."],
 "notes":["The graph changes: 3 of 31 operators are not in every iteration; a mean is over those that have it.","drift: how much a time changes from the first iteration to the last, where it goes one way. 1 operator does; most: OP_ID 15, head.","1 iteration is not whole (open, lost or overwritten in part): not counted."]},
{"view":"sequence","part":"positions","traces":["sequence.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"operator","unit":"","type":"text"},
  {"name":"op_id","label":"OP_ID","unit":"","type":"int"},
  {"name":"phase","label":"phase","unit":"","type":"text"},
  {"name":"repeats","label":"repeats","unit":"count","type":"int"},
  {"name":"iterations","label":"iterations","unit":"count","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"real"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"std_ns","label":"std","unit":"ns","type":"real"},
  {"name":"share","label":"of a step","unit":"ratio","type":"real","of":"a step"},
  {"name":"drift","label":"drift","unit":"ratio","type":"real","of":"its median time"}],
 "rows":[
  ["init_workspace",0,null,1,1,500000,500000,500000,500000,0,0.00357334286,null],
  ["copy",1,null,1,40,20000,20000,20000,20000,0,0.00571734858,null],
  ["layer_norm",2,"forward",1,40,30000,30000,30000,30000,0,0.00857602287,null],
  ["linear",3,"forward",1,40,201900,201000,203000,203000,841.244499,0.0577166339,null],
  ["gelu",4,"forward",1,40,40000,40000,40000,40000,0,0.0114346972,null],
  ["layer_norm",5,"forward",1,40,30000,30000,30000,30000,0,0.00857602287,null],
  ["linear",6,"forward",1,40,201900,201000,203000,203000,841.244499,0.0577166339,null],
  ["gelu",7,"forward",1,40,40000,40000,40000,40000,0,0.0114346972,null],
  ["layer_norm",8,"forward",1,40,30000,30000,30000,30000,0,0.00857602287,null],
  ["linear",9,"forward",1,40,201900,201000,203000,203000,841.244499,0.0577166339,null],
  ["gelu",10,"forward",1,40,40000,40000,40000,40000,0,0.0114346972,null],
  ["layer_norm",11,"forward",1,40,30000,30000,30000,30000,0,0.00857602287,null],
  ["linear",12,"forward",1,40,201900,201000,203000,203000,841.244499,0.0577166339,null],
  ["gelu",13,"forward",1,40,40000,40000,40000,40000,0,0.0114346972,null],
  ["dropout",14,"forward",1,10,25000,25000,25000,25000,0,0.00178667143,null],
  ["head",15,"forward",1,40,145000,100000,190000,190000,29088.7237,0.0414507772,0.672409156],
  ["log_softmax",16,"forward",1,20,15000,15000,15000,15000,0,0.00214400572,null],
  ["loss_backward",17,"backward",1,40,10000,10000,10000,10000,0,0.00285867429,null],
  ["gelu_backward",18,"backward",1,40,50000,50000,50000,50000,0,0.0142933714,null],
  ["linear_backward",19,"backward",1,40,400000,400000,400000,400000,0,0.114346972,null],
  ["norm_backward",20,"backward",1,40,60000,60000,60000,60000,0,0.0171520457,null],
  ["gelu_backward",21,"backward",1,40,50000,50000,50000,50000,0,0.0142933714,null],
  ["linear_backward",22,"backward",1,40,400000,400000,400000,400000,0,0.114346972,null],
  ["norm_backward",23,"backward",1,40,60000,60000,60000,60000,0,0.0171520457,null],
  ["gelu_backward",24,"backward",1,40,50000,50000,50000,50000,0,0.0142933714,null],
  ["linear_backward",25,"backward",1,40,400000,400000,400000,400000,0,0.114346972,null],
  ["norm_backward",26,"backward",1,40,60000,60000,60000,60000,0,0.0171520457,null],
  ["gelu_backward",27,"backward",1,40,50000,50000,50000,50000,0,0.0142933714,null],
  ["linear_backward",28,"backward",1,40,400000,400000,400000,400000,0,0.114346972,null],
  ["norm_backward",29,"backward",1,40,60000,60000,60000,60000,0,0.0171520457,null],
  ["sgd",30,"other",1,40,100500,80000,900000,900000,129653.384,0.0287296766,null]],
 "totals":{"iterations":40,"mean_ns":3429350,"share":0.980339468},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report sequence.dwell --view sequence --sort drift --limit 3
40 iterations of 3.50 ms on average from begin to end.

operator        OP_ID  iterations    mean     min     max     p99     std  of a step  drift
head               15          40   145us   100us   190us   190us  29.1us       4.1%  67.2%
init_workspace      0           1   500us   500us   500us   500us       0       0.4%
copy                1          40  20.0us  20.0us  20.0us  20.0us       0       0.6%
all operators                  40  3.43ms                                      98.0%

The graph changes: 3 of 31 operators are not in every iteration; a mean is over those that have it.
drift: how much a time changes from the first iteration to the last, where it goes one way. 1 operator does; most: OP_ID 15, head.
1 iteration is not whole (open, lost or overwritten in part): not counted.
28 more rows: --limit all shows them.

$ dwell report sequence.dwell --view sequence --skip-iteration 1
39 iterations of 3.49 ms on average from begin to end; the first one is left out.

operator           OP_ID  iterations    mean     min     max     p99     std  of a step  drift
copy                   1          39  20.0us  20.0us  20.0us  20.0us       0       0.6%
x4: 3 operators        2               272us                                      31.2%
  layer_norm           2          39  30.0us  30.0us  30.0us  30.0us       0       3.4%
  linear               3          39   202us   201us   203us   203us   831ns      23.2%
  gelu                 4          39  40.0us  40.0us  40.0us  40.0us       0       4.6%
dropout               14          10  25.0us  25.0us  25.0us  25.0us       0       0.2%
head                  15          39   146us   100us   190us   190us  28.5us       4.2%  63.3%
log_softmax           16          19  15.0us  15.0us  15.0us  15.0us       0       0.2%
loss_backward         17          39  10.0us  10.0us  10.0us  10.0us       0       0.3%
x4: 3 operators       18               510us                                      58.5%
  gelu_backward       18          39  50.0us  50.0us  50.0us  50.0us       0       5.7%
  linear_backward     19          39   400us   400us   400us   400us       0      45.9%
  norm_backward       20          39  60.0us  60.0us  60.0us  60.0us       0       6.9%
sgd                   30          39   101us  80.0us   900us   900us   131us       2.9%
all operators                     39  3.42ms                                      98.0%

The graph changes: 2 of 30 operators are not in every iteration; a mean is over those that have it.
1 operator is only in iterations that are left out.
drift: how much a time changes from the first iteration to the last, where it goes one way. 1 operator does; most: OP_ID 15, head.
1 iteration is not whole (open, lost or overwritten in part): not counted.

$ dwell report sequence.dwell --view sequence --steps 20..30 --limit 6
Only steps 20..30.
11 iterations of 3.47 ms on average from begin to end.

operator         OP_ID  iterations    mean     min     max     p99    std  of a step  drift
copy                 0          11  20.0us  20.0us  20.0us  20.0us      0       0.6%
x4: 3 operators      1               272us                                     31.4%
  layer_norm         1          11  30.0us  30.0us  30.0us  30.0us      0       3.5%
  linear             2          11   202us   201us   203us   203us  863ns      23.3%
  gelu               3          11  40.0us  40.0us  40.0us  40.0us      0       4.6%
dropout             13           2  25.0us  25.0us  25.0us  25.0us      0       0.1%
all operators                   11  3.40ms                                     98.0%

The graph changes: 1 of 29 operators is not in every iteration; a mean is over those that have it.
7 more rows: --limit all shows them.

$ dwell report sequence.dwell --view sequence --thread main --limit 3
Only thread main.
40 iterations of 3.50 ms on average from begin to end.

operator         OP_ID  iterations    mean     min     max     p99  std  of a step  drift
init_workspace       0           1   500us   500us   500us   500us    0       0.4%
copy                 1          40  20.0us  20.0us  20.0us  20.0us    0       0.6%
x4: 3 operators      2               272us                                   31.1%
all operators                   40  1.38ms                                   39.4%

The graph changes: 3 of 18 operators are not in every iteration; a mean is over those that have it.
drift: how much a time changes from the first iteration to the last, where it goes one way. 1 operator does; most: OP_ID 15, head.
1 iteration is not whole (open, lost or overwritten in part): not counted.
7 more rows: --limit all shows them.

$ trace figures_threads && dwell report figures_threads.dwell --view sequence
4 iterations of 10.0 ms on average from begin to end.

operator       OP_ID  iterations    mean     min     max     p99  std  of a step  drift
gemm               0           4  6.00ms  6.00ms  6.00ms  6.00ms    0      60.0%
all operators                  4  6.00ms                                   60.0%

3 threads have steps; these are the iterations of the one with most steps. --thread NAME shows those of another one.
