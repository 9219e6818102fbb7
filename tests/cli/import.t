# dwell import, and traces of other tools in other verbs.
$ printf '{"distributedInfo":{"rank":0,"world_size":2},"traceEvents":[{"ph":"X","cat":"cpu_op","name":"mm","pid":5,"tid":5,"ts":1,"dur":4},\n{"ph":"X", broken},{"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":5,"tid":5,"ts":0,"dur":10}],"baseTimeNanoseconds":1700000000000000000}' > rank0.json

$ printf '{"distributedInfo":{"rank":1,"world_size":2},"traceEvents":[{"ph":"X","cat":"cpu_op","name":"mm","pid":5,"tid":5,"ts":3,"dur":4},{"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":5,"tid":5,"ts":2,"dur":10}],"baseTimeNanoseconds":1700000000000000000}' > rank1.json

$ dwell report --view steps --format csv rank0.json
step,thread,start_ns,duration_ns,until_next_ns,of_median,cpu_share,most,why,profiler_ns,collector_ns,data_ns,communication_ns,device_wait_ns,checkpoint_ns,evaluation_ns,optimizer_ns,backward_ns,forward_ns,python_ns,operators_ns,layers_ns,functions_ns,named_ns,other_ns,cpu_ns
3,5,0,10000,,1,,"other 60%, operators 40%",,0,0,0,0,0,0,0,0,0,0,0,4000,0,0,0,6000,0
2> dwell: rank0.json: 1 events are no valid JSON and are left out (the first at line 2, column 1)
2> dwell: lost: 1 records: 1 events are no valid JSON and are left out (the first at line 2, column 1)

$ dwell import rank0.json rank1.json -o run.dwell
2> dwell: rank0.json: 1 events are no valid JSON and are left out (the first at line 2, column 1)

$ dwell report --view steps --format csv run.dwell
step,thread,start_ns,duration_ns,until_next_ns,of_median,cpu_share,most,why,profiler_ns,collector_ns,data_ns,communication_ns,device_wait_ns,checkpoint_ns,evaluation_ns,optimizer_ns,backward_ns,forward_ns,python_ns,operators_ns,layers_ns,functions_ns,named_ns,other_ns,cpu_ns
3,rank 0 5,0,10000,,1,,"other 60%, operators 40%",,0,0,0,0,0,0,0,0,0,0,0,4000,0,0,0,6000,0
3,rank 1 5,2000,10000,,1,,"other 60%, operators 40%",,0,0,0,0,0,0,0,0,0,0,0,4000,0,0,0,6000,0
2> dwell: lost: 1 records: rank0.json: 1 events are no valid JSON and are left out (the first at line 2, column 1)

$ dwell info run.dwell | grep -e began -e rank
began          2023-11-14 22:13:20 UTC
  5            (unknown), rank 0 of 2: 
  5            (unknown), rank 1 of 2: 
  kineto.distributedInfo = {"rank":1,"world_size":2}
  import.lost = rank0.json: 1 events are no valid JSON and are left out (the first at line 2, column 1)

$ dwell import rank0.json
2> dwell: no output is given: dwell import FILE... -o TRACE.dwell
[2]

$ dwell import run.dwell -o again.dwell
2> dwell: run.dwell is a trace of dwell already
[1]

$ echo '{"name": "package"}' > package.json && dwell import package.json -o x.dwell
2> dwell: package.json is JSON without "traceEvents": it is no trace of Kineto or Chrome
[1]

$ echo 'hello' > text && dwell import text -o x.dwell
2> dwell: text has no form that dwell imports (dwell import --help names them)
[1]

$ dwell import rank0.json text -o x.dwell
2> dwell: text is no Chrome trace: only these can be imported together
[1]

$ ls
package.json
rank0.json
rank1.json
run.dwell
text
