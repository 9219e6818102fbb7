# What is wrong in traces of devices: a message with the place, and what can be read is shown.

# A kernel before its launch, one without, two calls of one number, kernels that overlap.

$ printf '{"traceEvents":[{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":5,"tid":5,"ts":10,"dur":1,"args":{"correlation":1}},\n{"ph":"X","cat":"kernel","name":"early","pid":0,"tid":7,"ts":8,"dur":4,"args":{"device":0,"stream":7,"correlation":1}},\n{"ph":"X","cat":"kernel","name":"alone","pid":0,"tid":7,"ts":20,"dur":4,"args":{"device":0,"stream":7,"correlation":99}},\n{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":5,"tid":5,"ts":30,"dur":1,"args":{"correlation":3}},\n{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":5,"tid":5,"ts":40,"dur":1,"args":{"correlation":3}},\n{"ph":"X","cat":"kernel","name":"twice","pid":0,"tid":7,"ts":42,"dur":9,"args":{"device":0,"stream":7,"correlation":3}},\n{"ph":"X","cat":"kernel","name":"beside","pid":0,"tid":7,"ts":44,"dur":2,"args":{"device":0,"stream":7,"correlation":3}}]}' > order.json

$ dwell report --view kernels order.json
  family  events   total   share
  other        4  19.0us  100.0%
  all          4  19.0us

1 event: the call that submitted it is not in the trace.
1 event began before the call that submitted it: the clocks of host and device differ.
1 call had the number of an earlier call; events belong to the earlier one.

  name    family  events   total  share    mean     min     max  most in operator
  twice   other        1  9.00us  47.4%  9.00us  9.00us  9.00us
  early   other        1  4.00us  21.1%  4.00us  4.00us  4.00us
  alone   other        1  4.00us  21.1%  4.00us  4.00us  4.00us
  beside  other        1  2.00us  10.5%  2.00us  2.00us  2.00us

$ dwell report --view device --format csv order.json
part,device,ns,step_ns,share,host
compute,device 0,17000,,0.395348837,
idle: host late,device 0,6000,,0.139534884,
idle: launch latency,device 0,12000,,0.279069767,
idle: not known why,device 0,8000,,0.186046512,

device,events,first_ns,last_ns,span_ns,compute_ns,communication_ns,copy_ns,idle_ns,hidden_ns,only_compute_ns,only_communication_ns,compute_communication_ns,only_copy_ns,compute_copy_ns,communication_copy_ns,all_classes_ns
device 0,4,0,43000,43000,17000,0,0,26000,0,17000,0,0,0,0,0,0

# NUL and bytes that are no UTF-8 in names, numbers beyond 32 and 53 bits, two devices with equal stream numbers.

$ printf '{"traceEvents":[{"ph":"X","cat":"kernel","name":"a\\u0000b","pid":0,"tid":7,"ts":1,"dur":4,"args":{"device":0,"stream":7,"correlation":1}},\n{"ph":"X","cat":"kernel","name":"bad\377\376name","pid":0,"tid":7,"ts":20,"dur":4,"args":{"device":0,"stream":7,"correlation":9007199254740993}},\n{"ph":"X","cat":"kernel","name":"over","pid":1,"tid":7,"ts":21,"dur":10,"args":{"device":1,"stream":7,"correlation":18446744073709551616}}]}' > names.json

$ dwell report --view streams --format csv names.json | cut -d , -f 1-4
device,stream,events,busy_ns
device 0,7,2,8000
device 1,7,1,10000

call,calls,events,call_ns
2> dwell: names.json: 2 events have text without escapes, or invalid UTF-8, and were repaired (the first at line 1, column 17)

$ dwell report --view kernels names.json | sed -n '/name/,$p' | cut -c 1-44
  name       family  events   total  share  
  over       other        1  10.0us  55.6%  
  a�b        other        1  4.00us  22.2%
  bad��name  other        1  4.00us  22.
2> dwell: names.json: 2 events have text without escapes, or invalid UTF-8, and were repaired (the first at line 1, column 17)

# Members of wrong types, negative times.

$ printf '{"traceEvents":[{"ph":"X","cat":"kernel","name":"x","pid":0,"tid":7,"ts":-1,"dur":4,"args":{"device":0,"stream":7,"correlation":1}},\n{"ph":"X","cat":"kernel","name":"x","pid":0,"tid":7,"ts":1,"dur":-4,"args":{"device":0,"stream":7,"correlation":1}},\n{"ph":"X","cat":"kernel","name":7,"pid":"GPU","tid":[],"ts":"x","dur":1,"args":{"device":"a","stream":-1,"grid":[1,"b"]}},\n{"ph":"X","cat":"kernel","name":"y","pid":0,"tid":7,"ts":5,"dur":1,"args":{"device":0,"stream":7,"correlation":null,"grid":[1,"b"],"block":7}},\n{"ph":"X","cat":"kernel","name":"z","pid":0,"tid":7,"ts":7,"dur":1,"args":{"device":0,"stream":7,"correlation":"7"}}]}' > types.json

$ dwell report --view kernels --format csv types.json | cut -d , -f 1-6
family,calls,total_ns,share
other,4,6000,1

short_name,name,family,class,calls,total_ns
x,x,other,compute,2,4000
y,y,other,compute,1,1000
z,z,other,compute,1,1000

operator,calls,self_ns,total_ns,share
2> dwell: types.json: 1 events have no time, or one that is no number, and are left out (the first at line 3, column 1); 1 events have a negative duration, which is taken as 0 (the first at line 2, column 1); 1 events begin before time 0, and are moved there (the first at line 1, column 17)
2> dwell: lost: 1 records: 1 events have no time, or one that is no number, and are left out (the first at line 3, column 1)

# Nothing in it, nothing of a device, a file that ends within an event.

$ printf '{"traceEvents":[]}' > none.json

$ dwell report none.json
Nothing was recorded.
TRY    a program says what it does with the probes of <dwell/probe.h>, or
       through a library that has them
Trust: nothing is lost.
2> dwell: none.json: it has no events

$ : > empty.json; dwell report empty.json
2> dwell: empty.json is empty: nothing was recorded into it
[1]

$ dwell report --view device none.json
2> dwell: none.json: it has no events
2> dwell: none.json has no events of devices: import a trace of a run on GPUs: dwell report FILE reads Kineto's JSON
[1]

$ head -c 700 order.json > cut.json; dwell report --view kernels --format csv cut.json | head -n 2
family,calls,total_ns,share
other,2,8000,1
2> dwell: cut.json: the file ends too early at line 6, column 1; what lies before is here

# A profile of ONNX Runtime with wrong types that ends too early.

$ printf '[{"cat":"Session","pid":5,"tid":6,"dur":9,"ts":0,"ph":"X","name":"model_run"},\n{"cat":"Node","pid":5,"tid":6,"dur":8,"ts":1,"ph":"X","name":"a_kernel_time","args":{"op_name":"Relu","input_type_shape":[{"float":["x",-1]},5]}},\n{"cat":"Node","pid":5,"tid":6,"dur":-8,"ts":"b","ph":"X","name":"b_kernel_time","args":{"op_name":"Relu"}},\n{"cat":"Node","pid":5,"tid":6,"dur":1,"ts":3,"ph":"X","name":"c_kernel_time","args":{"op_name":7}},\n{"cat":"Node","pid":5,"ti' > onnx.json

$ dwell report --view operators --format csv onnx.json | cut -d , -f 1-3
name,calls,self_ns
Relu,1,8000
2> dwell: onnx.json: 1 events have no time, or one that is no number, and are left out (the first at line 3, column 1); the file ends too early at line 5, column 1; what lies before is here; 1 events have members of a wrong type (the first at line 4, column 1); 1 events have a negative duration, which is taken as 0 (the first at line 3, column 1)
2> dwell: lost: 1 records: 1 events have no time, or one that is no number, and are left out (the first at line 3, column 1)
