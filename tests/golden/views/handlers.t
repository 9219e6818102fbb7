$ trace nosteps && dwell report nosteps.dwell --view handlers
2> dwell: nosteps.dwell has no events of a training engine: build the loop on <dwell/compat/ignite.h>, or attach a profiler of dwell.ignite
[1]

$ trace engine && dwell report engine.dwell --view handlers --format json
{"dwell":1,"views":[
{"view":"handlers","traces":["engine.dwell"],"scope":{},
 "columns":[
  {"name":"handler","label":"handler","unit":"","type":"text"},
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
  ["validate","EPOCH_COMPLETED",2,64014000,22007000,1,42007000,2,32007000,14142136],
  ["on_start","STARTED",2,9000000,2000000,0,7000000,0,4500000,3535534],
  ["never","COMPLETED",0,null,null,null,null,null,null,null],
  ["log","ITERATION_COMPLETED",7,7000000,1000000,1,1000000,1,1000000,0],
  ["log #2","ITERATION_COMPLETED",7,21000000,3000000,1,3000000,1,3000000,0],
  ["every_2","ITERATION_COMPLETED",3,60000,20000,2,20000,2,20000,0],
  ["keep","SAVED",1,500000,500000,4,500000,4,500000,null]],
 "totals":{"calls":22,"total_ns":101574000},
 "coverage":1,"losses":[],
 "heads":["trainer: 7 iterations in 3 epochs of 2 runs."],
 "notes":["\"at\" is the iteration; of EPOCH_STARTED, EPOCH_COMPLETED, STARTED and COMPLETED the epoch.","2 did not end and are not counted.","Other engines: evaluator (--engine NAME)."]},
{"view":"handlers","part":"calls","traces":["engine.dwell"],"scope":{},
 "columns":[
  {"name":"#","label":"#","unit":"","type":"int"},
  {"name":"processing_stats","label":"processing","unit":"","type":"real"},
  {"name":"dataflow_stats","label":"dataflow","unit":"","type":"real"},
  {"name":"validate (EPOCH_COMPLETED)","label":"validate (EPOCH_COMPLETED)","unit":"","type":"real"},
  {"name":"on_start (STARTED)","label":"on_start (STARTED)","unit":"","type":"real"},
  {"name":"never (COMPLETED)","label":"never (COMPLETED)","unit":"","type":"real"},
  {"name":"log (ITERATION_COMPLETED)","label":"log (ITERATION_COMPLETED)","unit":"","type":"real"},
  {"name":"log #2 (ITERATION_COMPLETED)","label":"log #2 (ITERATION_COMPLETED)","unit":"","type":"real"},
  {"name":"every_2 (ITERATION_COMPLETED)","label":"every_2 (ITERATION_COMPLETED)","unit":"","type":"real"},
  {"name":"keep (SAVED)","label":"keep (SAVED)","unit":"","type":"real"}],
 "rows":[
  [1,0.05,0.009,0.022007,0.007,0,0.001,0.003,2e-05,0.0005],
  [2,0.010001,0.002,0.042007,0.002,0,0.001,0.003,2e-05,0],
  [3,0.010002,0.004,0,0,0,0.001,0.003,2e-05,0],
  [4,0.010003,0.006,0,0,0,0.001,0.003,0,0],
  [5,0.010004,0.008,0,0,0,0.001,0.003,0,0],
  [6,0.010005,0.01,0,0,0,0.001,0.003,0,0],
  [7,0.010006,0.012,0,0,0,0.001,0.003,0,0]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report engine.dwell --view handlers --engine evaluator
evaluator: 2 iterations in 2 epochs of 2 runs, in another engine's.
It has no handlers.
"at" is the iteration; of EPOCH_STARTED, EPOCH_COMPLETED, STARTED and COMPLETED the epoch.
Other engines: trainer (--engine NAME).

$ trace device_train && dwell report device_train.dwell --view handlers --format json
{"dwell":1,"views":[
{"view":"handlers","traces":["device_train.dwell"],"scope":{},
 "columns":[
  {"name":"handler","label":"handler","unit":"","type":"text"},
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
  ["to_device","ITERATION_STARTED",3,33000,11000,1,11000,1,11000,0,60000,3]],
 "totals":{"calls":3,"total_ns":33000},
 "coverage":1,"losses":[],
 "heads":["trainer: 0 iterations in 0 epochs of 1 run."],
 "notes":["\"at\" is the iteration; of EPOCH_STARTED, EPOCH_COMPLETED, STARTED and COMPLETED the epoch."]},
{"view":"handlers","part":"calls","traces":["device_train.dwell"],"scope":{},
 "columns":[
  {"name":"#","label":"#","unit":"","type":"int"},
  {"name":"processing_stats","label":"processing","unit":"","type":"real"},
  {"name":"dataflow_stats","label":"dataflow","unit":"","type":"real"},
  {"name":"to_device (ITERATION_STARTED)","label":"to_device (ITERATION_STARTED)","unit":"","type":"real"}],
 "rows":[
  [1,0,0,1.1e-05],
  [2,0,0,1.1e-05],
  [3,0,0,1.1e-05]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]}
]}
