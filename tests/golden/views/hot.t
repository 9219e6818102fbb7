$ trace samples && dwell report samples.dwell --view hot --format json
{"dwell":1,"views":[
{"view":"hot","traces":["samples.dwell"],"scope":{},
 "columns":[
  {"name":"short_name","label":"function","unit":"","type":"text"},
  {"name":"name","label":"whole name","unit":"","type":"text"},
  {"name":"place","label":"line","unit":"","type":"text"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"self_share","label":"self share","unit":"ratio","type":"real","sums":"self_ns","whole":648000000},
  {"name":"self_error","label":"+-","unit":"ratio","type":"real","of":"the CPU time in scope"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"total_share","label":"total share","unit":"ratio","type":"real","sums":"total_ns","whole":648000000},
  {"name":"samples","label":"samples","unit":"count","type":"int"},
  {"name":"file","label":"file","unit":"","type":"text"},
  {"name":"line","label":"line","unit":"","type":"int"},
  {"name":"module","label":"library","unit":"","type":"text"}],
 "rows":[
  ["PyUnicode_Split","PyUnicode_Split",null,200000000,0.308641975,0.0805474703,200000000,0.308641975,25,null,null,null],
  ["mkl_gemm","mkl_gemm",null,200000000,0.308641975,0.0805474703,200000000,0.308641975,50,null,null,null],
  ["tokenize","tokenize","text.py:88",100000000,0.154320988,0.0643525877,300000000,0.462962963,50,"text.py",88,null],
  ["log_metrics","log_metrics","log.py:7",100000000,0.154320988,0.0643525877,100000000,0.154320988,25,"log.py",7,null],
  ["wait_spin","wait_spin",null,40000000,0.0617283951,0.0456719068,40000000,0.0617283951,10,null,null,null],
  ["dwell_record","dwell_record",null,4000000,0.00617283951,0.0248933328,4000000,0.00617283951,1,null,null,null],
  ["exec","exec","<frozen>:1",4000000,0.00617283951,0.0248933328,4000000,0.00617283951,1,"<frozen>",1,null],
  ["main","main","train.py:41",0,0,0.021118067,604000000,0.932098765,126,"train.py",41,null],
  ["collate","collate","text.py:20",0,0,0.021118067,300000000,0.462962963,50,"text.py",20,null],
  ["aten_linear","aten_linear",null,0,0,0.021118067,104000000,0.160493827,26,null,null,null],
  ["forward","forward","model.py:14",0,0,0.021118067,104000000,0.160493827,26,"model.py",14,null],
  ["aten_linear_backward","aten_linear_backward",null,0,0,0.021118067,100000000,0.154320988,25,null,null,null],
  ["backward","backward","loss.py:9",0,0,0.021118067,100000000,0.154320988,25,"loss.py",9,null],
  ["pool_main","pool_main",null,0,0,0.021118067,40000000,0.0617283951,10,null,null,null]],
 "totals":{"self_ns":648000000,"samples":137},
 "coverage":1,"losses":[],
 "notes":["CPU time by 137 samples; +- is half of the 95% interval of self share."]}
]}

$ dwell report samples.dwell --view hot --group-by line
function              line           self  self share    +-   total  total share  samples
PyUnicode_Split                     200ms       30.9%  8.1%   200ms        30.9%       25
mkl_gemm                            200ms       30.9%  8.1%   200ms        30.9%       50
log_metrics           log.py:7      100ms       15.4%  6.4%   100ms        15.4%       25
tokenize              text.py:88    100ms       15.4%  6.4%   100ms        15.4%       25
wait_spin                          40.0ms        6.2%  4.6%  40.0ms         6.2%       10
dwell_record                       4.00ms        0.6%  2.5%  4.00ms         0.6%        1
exec                  <frozen>:1   4.00ms        0.6%  2.5%  4.00ms         0.6%        1
collate               text.py:20        0        0.0%  2.1%   300ms        46.3%       50
main                  train.py:41       0        0.0%  2.1%   300ms        46.3%       50
tokenize              text.py:90        0        0.0%  2.1%   200ms        30.9%       25
aten_linear                             0        0.0%  2.1%   104ms        16.0%       26
forward               model.py:14       0        0.0%  2.1%   104ms        16.0%       26
main                  train.py:40       0        0.0%  2.1%   104ms        16.0%       26
aten_linear_backward                    0        0.0%  2.1%   100ms        15.4%       25
backward              loss.py:9         0        0.0%  2.1%   100ms        15.4%       25
main                  train.py:43       0        0.0%  2.1%   100ms        15.4%       25
main                  train.py:50       0        0.0%  2.1%   100ms        15.4%       25
pool_main                               0        0.0%  2.1%  40.0ms         6.2%       10
all                                 648ms                                             137

CPU time by 137 samples; +- is half of the 95% interval of self share.

$ dwell report samples.dwell --view hot --group-by thread
function              line           self  self share    +-   total  total share  samples  thread
PyUnicode_Split                     200ms       30.9%  8.1%   200ms        30.9%       25  train
mkl_gemm                            200ms       30.9%  8.1%   200ms        30.9%       50  train
tokenize              text.py:88    100ms       15.4%  6.4%   300ms        46.3%       50  train
log_metrics           log.py:7      100ms       15.4%  6.4%   100ms        15.4%       25  train
wait_spin                          40.0ms        6.2%  4.6%  40.0ms         6.2%       10  pool
dwell_record                       4.00ms        0.6%  2.5%  4.00ms         0.6%        1  train
exec                  <frozen>:1   4.00ms        0.6%  2.5%  4.00ms         0.6%        1  train
main                  train.py:41       0        0.0%  2.1%   604ms        93.2%      126  train
collate               text.py:20        0        0.0%  2.1%   300ms        46.3%       50  train
aten_linear                             0        0.0%  2.1%   104ms        16.0%       26  train
forward               model.py:14       0        0.0%  2.1%   104ms        16.0%       26  train
aten_linear_backward                    0        0.0%  2.1%   100ms        15.4%       25  train
backward              loss.py:9         0        0.0%  2.1%   100ms        15.4%       25  train
pool_main                               0        0.0%  2.1%  40.0ms         6.2%       10  pool
all                                 648ms                                             137

CPU time by 137 samples; +- is half of the 95% interval of self share.

$ dwell report samples.dwell --view hot --group-by phase
function              line           self  self share    +-   total  total share  samples  phase
PyUnicode_Split                     200ms       30.9%  8.1%   200ms        30.9%       25  python
tokenize              text.py:88    100ms       15.4%  6.4%   300ms        46.3%       50  python
mkl_gemm                            100ms       15.4%  6.4%   100ms        15.4%       25  backward
mkl_gemm                            100ms       15.4%  6.4%   100ms        15.4%       25  forward
log_metrics           log.py:7     96.0ms       14.8%  6.3%  96.0ms        14.8%       24  between steps: python
wait_spin                          36.0ms        5.6%  4.4%  36.0ms         5.6%        9  other
dwell_record                       4.00ms        0.6%  2.5%  4.00ms         0.6%        1  forward
exec                  <frozen>:1   4.00ms        0.6%  2.5%  4.00ms         0.6%        1  outside: python
log_metrics           log.py:7     4.00ms        0.6%  2.5%  4.00ms         0.6%        1  end: python
wait_spin                          4.00ms        0.6%  2.5%  4.00ms         0.6%        1  between steps: other
collate               text.py:20        0        0.0%  2.1%   300ms        46.3%       50  python
main                  train.py:41       0        0.0%  2.1%   300ms        46.3%       50  python
aten_linear                             0        0.0%  2.1%   104ms        16.0%       26  forward
forward               model.py:14       0        0.0%  2.1%   104ms        16.0%       26  forward
main                  train.py:40       0        0.0%  2.1%   104ms        16.0%       26  forward
aten_linear_backward                    0        0.0%  2.1%   100ms        15.4%       25  backward
backward              loss.py:9         0        0.0%  2.1%   100ms        15.4%       25  backward
main                  train.py:43       0        0.0%  2.1%   100ms        15.4%       25  backward
main                  train.py:50       0        0.0%  2.1%  96.0ms        14.8%       24  between steps: python
pool_main                               0        0.0%  2.1%  36.0ms         5.6%        9  other
main                  train.py:50       0        0.0%  2.1%  4.00ms         0.6%        1  end: python
pool_main                               0        0.0%  2.1%  4.00ms         0.6%        1  between steps: other
all                                 648ms                                             137

CPU time by 137 samples; +- is half of the 95% interval of self share.

$ dwell report samples.dwell --view hot --group-by range
function              line           self  self share    +-   total  total share  samples  in range
PyUnicode_Split                     200ms       30.9%  8.1%   200ms        30.9%       25  forward
tokenize              text.py:88    100ms       15.4%  6.4%   300ms        46.3%       50  forward
log_metrics           log.py:7      100ms       15.4%  6.4%   100ms        15.4%       25  (in no range)
mkl_gemm                            100ms       15.4%  6.4%   100ms        15.4%       25  aten::linear_backward
mkl_gemm                            100ms       15.4%  6.4%   100ms        15.4%       25  aten::linear
wait_spin                          40.0ms        6.2%  4.6%  40.0ms         6.2%       10  (in no range)
dwell_record                       4.00ms        0.6%  2.5%  4.00ms         0.6%        1  aten::linear
exec                  <frozen>:1   4.00ms        0.6%  2.5%  4.00ms         0.6%        1  (in no range)
collate               text.py:20        0        0.0%  2.1%   300ms        46.3%       50  forward
main                  train.py:41       0        0.0%  2.1%   300ms        46.3%       50  forward
aten_linear                             0        0.0%  2.1%   104ms        16.0%       26  aten::linear
forward               model.py:14       0        0.0%  2.1%   104ms        16.0%       26  aten::linear
main                  train.py:40       0        0.0%  2.1%   104ms        16.0%       26  aten::linear
aten_linear_backward                    0        0.0%  2.1%   100ms        15.4%       25  aten::linear_backward
backward              loss.py:9         0        0.0%  2.1%   100ms        15.4%       25  aten::linear_backward
main                  train.py:43       0        0.0%  2.1%   100ms        15.4%       25  aten::linear_backward
main                  train.py:50       0        0.0%  2.1%   100ms        15.4%       25  (in no range)
pool_main                               0        0.0%  2.1%  40.0ms         6.2%       10  (in no range)
all                                 648ms                                             137

CPU time by 137 samples; +- is half of the 95% interval of self share.

$ dwell report samples.dwell --view hot --group-by python
function                 line           self  self share    +-   total  total share  samples
tokenize                 text.py:90    300ms       46.3%  8.7%   300ms        46.3%       50
forward                  model.py:14   104ms       16.0%  6.5%   104ms        16.0%       26
backward                 loss.py:9     100ms       15.4%  6.4%   100ms        15.4%       25
log_metrics              log.py:7      100ms       15.4%  6.4%   100ms        15.4%       25
(no function of Python)               40.0ms        6.2%  4.6%  40.0ms         6.2%       10
exec                     <frozen>:1   4.00ms        0.6%  2.5%  4.00ms         0.6%        1
main                     train.py:41       0        0.0%  2.1%   604ms        93.2%      126
collate                  text.py:20        0        0.0%  2.1%   300ms        46.3%       50
all                                    648ms                                             137

CPU time by 137 samples; +- is half of the 95% interval of self share.

$ dwell report samples.dwell --view hot --group-by line,phase
function              line           self  self share    +-   total  total share  samples  phase
PyUnicode_Split                     200ms       30.9%  8.1%   200ms        30.9%       25  python
mkl_gemm                            100ms       15.4%  6.4%   100ms        15.4%       25  backward
mkl_gemm                            100ms       15.4%  6.4%   100ms        15.4%       25  forward
tokenize              text.py:88    100ms       15.4%  6.4%   100ms        15.4%       25  python
log_metrics           log.py:7     96.0ms       14.8%  6.3%  96.0ms        14.8%       24  between steps: python
wait_spin                          36.0ms        5.6%  4.4%  36.0ms         5.6%        9  other
dwell_record                       4.00ms        0.6%  2.5%  4.00ms         0.6%        1  forward
exec                  <frozen>:1   4.00ms        0.6%  2.5%  4.00ms         0.6%        1  outside: python
log_metrics           log.py:7     4.00ms        0.6%  2.5%  4.00ms         0.6%        1  end: python
wait_spin                          4.00ms        0.6%  2.5%  4.00ms         0.6%        1  between steps: other
collate               text.py:20        0        0.0%  2.1%   300ms        46.3%       50  python
main                  train.py:41       0        0.0%  2.1%   300ms        46.3%       50  python
tokenize              text.py:90        0        0.0%  2.1%   200ms        30.9%       25  python
aten_linear                             0        0.0%  2.1%   104ms        16.0%       26  forward
forward               model.py:14       0        0.0%  2.1%   104ms        16.0%       26  forward
main                  train.py:40       0        0.0%  2.1%   104ms        16.0%       26  forward
aten_linear_backward                    0        0.0%  2.1%   100ms        15.4%       25  backward
backward              loss.py:9         0        0.0%  2.1%   100ms        15.4%       25  backward
main                  train.py:43       0        0.0%  2.1%   100ms        15.4%       25  backward
main                  train.py:50       0        0.0%  2.1%  96.0ms        14.8%       24  between steps: python
pool_main                               0        0.0%  2.1%  36.0ms         5.6%        9  other
main                  train.py:50       0        0.0%  2.1%  4.00ms         0.6%        1  end: python
pool_main                               0        0.0%  2.1%  4.00ms         0.6%        1  between steps: other
all                                 648ms                                             137

CPU time by 137 samples; +- is half of the 95% interval of self share.

$ dwell report samples.dwell --view hot --group-by file
2> dwell: this view has no group 'file'; there are: line, thread, phase, range, python, holder
[2]

$ dwell report samples.dwell --view hot --steps 3..4
Only steps 3..4.

function              line           self  self share     +-   total  total share  samples
PyUnicode_Split                    16.0ms       28.6%  24.2%  16.0ms        28.6%        2
mkl_gemm                           16.0ms       28.6%  24.2%  16.0ms        28.6%        4
wait_spin                          16.0ms       28.6%  24.2%  16.0ms        28.6%        4
tokenize              text.py:88   8.00ms       14.3%  21.7%  24.0ms        42.9%        4
main                  train.py:41       0        0.0%  17.2%  40.0ms        71.4%        8
collate               text.py:20        0        0.0%  17.2%  24.0ms        42.9%        4
pool_main                               0        0.0%  17.2%  16.0ms        28.6%        4
aten_linear                             0        0.0%  17.2%  8.00ms        14.3%        2
aten_linear_backward                    0        0.0%  17.2%  8.00ms        14.3%        2
backward              loss.py:9         0        0.0%  17.2%  8.00ms        14.3%        2
forward               model.py:14       0        0.0%  17.2%  8.00ms        14.3%        2
all                                56.0ms                                               12

CPU time by 12 samples; +- is half of the 95% interval of self share.

$ dwell report samples.dwell --view hot --thread pool
Only thread pool.

function   line    self  self share     +-   total  total share  samples
wait_spin        40.0ms      100.0%  18.2%  40.0ms       100.0%       10
pool_main             0        0.0%  18.2%  40.0ms       100.0%       10
all              40.0ms                                               10

CPU time by 10 samples; +- is half of the 95% interval of self share.

$ trace samples_alone && dwell report samples_alone.dwell --view hot
function          line           self  self share    +-   total  total share  samples
poll_queue        queue.c:15    800ms       45.1%  4.6%   800ms        45.1%      200
gemm              matmul.c:88   720ms       40.6%  4.6%   720ms        40.6%      180
relu              net.c:21      240ms       13.5%  3.2%   240ms        13.5%       60
(stack not read)               8.00ms        0.5%  0.9%  8.00ms         0.5%        1
read_weights      io.c:31      4.00ms        0.2%  0.7%  4.00ms         0.2%        1
main              main.c:12         0        0.0%  0.6%   964ms        54.4%      241
train_epoch       train.c:71        0        0.0%  0.6%   960ms        54.2%      240
io_thread         queue.c:40        0        0.0%  0.6%   800ms        45.1%      200
forward           net.c:40          0        0.0%  0.6%   720ms        40.6%      180
backward          net.c:66          0        0.0%  0.6%   240ms        13.5%       60
all                             1.77s                                             442

CPU time by 442 samples, taken by a timer of each thread's CPU time; +- is half of the 95% interval of self share.
0.2% of the samples had a stack that could not be read.
