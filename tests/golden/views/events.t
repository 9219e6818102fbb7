$ trace engine && dwell report engine.dwell --view events --format json
{"dwell":1,"views":[
{"view":"events","traces":["engine.dwell"],"scope":{},
 "columns":[
  {"name":"event","label":"event","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"min_index","label":"at","unit":"","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"max_index","label":"at","unit":"","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"std_ns","label":"std","unit":"ns","type":"int"}],
 "rows":[
  ["processing",7,110021000,10001000,1,50000000,1,15717286,15117256],
  ["dataflow",7,51000000,2000000,1,12000000,6,7285714,3498299],
  ["EPOCH_STARTED",3,3000,1000,1,1000,1,1000,0],
  ["EPOCH_COMPLETED",3,64017000,1000,1,42008000,2,21339000,21011489],
  ["STARTED",2,9002000,2001000,0,7001000,0,4501000,3535534],
  ["COMPLETED",2,2000,1000,1,1000,1,1000,0],
  ["ITERATION_STARTED",7,7000,1000,1,1000,1,1000,0],
  ["ITERATION_COMPLETED",7,28067000,4001000,1,4021000,2,4009571,10690],
  ["GET_BATCH_STARTED",7,7000,1000,1,1000,1,1000,0],
  ["GET_BATCH_COMPLETED",7,7000,1000,1,1000,1,1000,0],
  ["DATALOADER_STOP_ITERATION",1,1000,1000,4,1000,4,1000,null],
  ["SAVED",1,501000,501000,4,501000,4,501000,null]],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["trainer: 7 iterations in 3 epochs of 2 runs."],
 "notes":["\"at\" is the iteration; of EPOCH_STARTED, EPOCH_COMPLETED, STARTED and COMPLETED the epoch.","2 did not end and are not counted.","Other engines: evaluator (--engine NAME)."]},
{"view":"events","part":"iterations","traces":["engine.dwell"],"scope":{},
 "columns":[
  {"name":"epoch","label":"epoch","unit":"","type":"int"},
  {"name":"iteration","label":"iteration","unit":"","type":"int"},
  {"name":"processing_stats","label":"processing","unit":"","type":"real"},
  {"name":"dataflow_stats","label":"dataflow","unit":"","type":"real"},
  {"name":"Event_STARTED","label":"STARTED","unit":"","type":"real"},
  {"name":"Event_COMPLETED","label":"COMPLETED","unit":"","type":"real"},
  {"name":"Event_EPOCH_STARTED","label":"EPOCH_STARTED","unit":"","type":"real"},
  {"name":"Event_EPOCH_COMPLETED","label":"EPOCH_COMPLETED","unit":"","type":"real"},
  {"name":"Event_ITERATION_STARTED","label":"ITERATION_STARTED","unit":"","type":"real"},
  {"name":"Event_ITERATION_COMPLETED","label":"ITERATION_COMPLETED","unit":"","type":"real"},
  {"name":"Event_GET_BATCH_STARTED","label":"GET_BATCH_STARTED","unit":"","type":"real"},
  {"name":"Event_GET_BATCH_COMPLETED","label":"GET_BATCH_COMPLETED","unit":"","type":"real"}],
 "rows":[
  [1,1,0.05,0.009,0.007001,1e-06,1e-06,1e-06,1e-06,0.004001,1e-06,1e-06],
  [1,1,0.010001,0.002,0.002001,1e-06,1e-06,0.022008,1e-06,0.004001,1e-06,1e-06],
  [1,2,0.010002,0.004,0.002001,1e-06,1e-06,0.022008,1e-06,0.004021,1e-06,1e-06],
  [1,3,0.010003,0.006,0.002001,1e-06,1e-06,0.022008,1e-06,0.004001,1e-06,1e-06],
  [2,4,0.010004,0.008,0.002001,1e-06,1e-06,0.042008,1e-06,0.004021,1e-06,1e-06],
  [2,5,0.010005,0.01,0.002001,1e-06,1e-06,0.042008,1e-06,0.004001,1e-06,1e-06],
  [2,6,0.010006,0.012,0.002001,1e-06,1e-06,0.042008,1e-06,0.004021,1e-06,1e-06]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report engine.dwell --view events --engine evaluator
evaluator: 2 iterations in 2 epochs of 2 runs, in another engine's.

event                calls   total     min  at     max  at    mean     std
processing               2  60.0ms  20.0ms   1  40.0ms   1  30.0ms  14.1ms
dataflow                 2  2.00ms  1.00ms   1  1.00ms   1  1.00ms       0
EPOCH_STARTED            2  2.00us  1.00us   1  1.00us   1  1.00us       0
EPOCH_COMPLETED          2  2.00us  1.00us   1  1.00us   1  1.00us       0
STARTED                  2  2.00us  1.00us   0  1.00us   0  1.00us       0
COMPLETED                2  2.00us  1.00us   1  1.00us   1  1.00us       0
ITERATION_STARTED        2  2.00us  1.00us   1  1.00us   1  1.00us       0
ITERATION_COMPLETED      2  2.00us  1.00us   1  1.00us   1  1.00us       0
GET_BATCH_STARTED        4  4.00us  1.00us   1  1.00us   1  1.00us       0
GET_BATCH_COMPLETED      2  2.00us  1.00us   1  1.00us   1  1.00us       0

"at" is the iteration; of EPOCH_STARTED, EPOCH_COMPLETED, STARTED and COMPLETED the epoch.
Other engines: trainer (--engine NAME).

$ dwell report engine.dwell --view events --thread train --sort total
Only thread train.
trainer: 7 iterations in 3 epochs of 2 runs.

event                      calls   total     min  at     max  at    mean     std
processing                     7   110ms  10.0ms   1  50.0ms   1  15.7ms  15.1ms
EPOCH_COMPLETED                3  64.0ms  1.00us   1  42.0ms   2  21.3ms  21.0ms
dataflow                       7  51.0ms  2.00ms   1  12.0ms   6  7.29ms  3.50ms
ITERATION_COMPLETED            7  28.1ms  4.00ms   1  4.02ms   2  4.01ms  10.7us
STARTED                        2  9.00ms  2.00ms   0  7.00ms   0  4.50ms  3.54ms
SAVED                          1   501us   501us   4   501us   4   501us
ITERATION_STARTED              7  7.00us  1.00us   1  1.00us   1  1.00us       0
GET_BATCH_STARTED              7  7.00us  1.00us   1  1.00us   1  1.00us       0
GET_BATCH_COMPLETED            7  7.00us  1.00us   1  1.00us   1  1.00us       0
EPOCH_STARTED                  3  3.00us  1.00us   1  1.00us   1  1.00us       0
COMPLETED                      2  2.00us  1.00us   1  1.00us   1  1.00us       0
DATALOADER_STOP_ITERATION      1  1.00us  1.00us   4  1.00us   4  1.00us

"at" is the iteration; of EPOCH_STARTED, EPOCH_COMPLETED, STARTED and COMPLETED the epoch.
2 did not end and are not counted.
Other engines: evaluator (--engine NAME).

$ dwell report engine.dwell --view events --engine trainr
2> dwell: no engine 'trainr' in engine.dwell; did you mean 'trainer'?
[2]

$ trace device_train && dwell report device_train.dwell --view events --format json
{"dwell":1,"views":[
{"view":"events","traces":["device_train.dwell"],"scope":{},
 "columns":[
  {"name":"event","label":"event","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"min_index","label":"at","unit":"","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"max_index","label":"at","unit":"","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"std_ns","label":"std","unit":"ns","type":"int"},
  {"name":"device_ns","label":"device","unit":"ns","type":"int"},
  {"name":"device_events","label":"device events","unit":"count","type":"int"}],
 "rows":[
  ["processing",0,null,null,null,null,null,null,null,null,null],
  ["dataflow",0,null,null,null,null,null,null,null,null,null],
  ["ITERATION_STARTED",3,36000,12000,1,12000,1,12000,0,60000,3]],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["trainer: 0 iterations in 0 epochs of 1 run."],
 "notes":["\"at\" is the iteration; of EPOCH_STARTED, EPOCH_COMPLETED, STARTED and COMPLETED the epoch."]},
{"view":"events","part":"iterations","traces":["device_train.dwell"],"scope":{},
 "columns":[
  {"name":"epoch","label":"epoch","unit":"","type":"int"},
  {"name":"iteration","label":"iteration","unit":"","type":"int"},
  {"name":"processing_stats","label":"processing","unit":"","type":"real"},
  {"name":"dataflow_stats","label":"dataflow","unit":"","type":"real"},
  {"name":"Event_STARTED","label":"STARTED","unit":"","type":"real"},
  {"name":"Event_COMPLETED","label":"COMPLETED","unit":"","type":"real"},
  {"name":"Event_EPOCH_STARTED","label":"EPOCH_STARTED","unit":"","type":"real"},
  {"name":"Event_EPOCH_COMPLETED","label":"EPOCH_COMPLETED","unit":"","type":"real"},
  {"name":"Event_ITERATION_STARTED","label":"ITERATION_STARTED","unit":"","type":"real"},
  {"name":"Event_ITERATION_COMPLETED","label":"ITERATION_COMPLETED","unit":"","type":"real"},
  {"name":"Event_GET_BATCH_STARTED","label":"GET_BATCH_STARTED","unit":"","type":"real"},
  {"name":"Event_GET_BATCH_COMPLETED","label":"GET_BATCH_COMPLETED","unit":"","type":"real"}],
 "rows":[],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]}
]}
