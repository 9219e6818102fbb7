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
2> dwell: package.json is JSON without "traceEvents", "rocprofiler-sdk-tool" or "resourceSpans": it is no trace of Kineto, Chrome, rocprofv3 or OpenTelemetry
[1]

$ echo 'hello' > text && dwell import text -o x.dwell
2> dwell: text has no form that dwell imports: it looks like text (man dwell-import names those)
[1]

# A stored trace says what its import said.
$ printf '{"traceEvents":[{"ph":"X","name":"a","pid":5,"tid":5,"ts":1,"dur":4,"sf":1},{"ph":"O","ts":1},{"ph":"E","pid":5,"tid":5,"ts":9},\n{"ph":"X", "na' > cut.json; dwell report --view threads --format csv cut.json
thread,pid,tid,records,ranges,first_ns,last_ns,busy_ns,busy_share,gap_ns,lost,threads
5,5,5,2,1,0,4000,4000,1,0,0,1
2> dwell: cut.json: 1 events are of a kind that dwell does not know (ph O), and are left out (the first at line 1, column 77); 1 call stacks of events (sf, stack) are left out (the first at line 1, column 17); 1 events end and did not begin; the file ends too early at line 2, column 1; what lies before is here
2> dwell: lost: 3 records: 1 events are of a kind that dwell does not know (ph O), and are left out (the first at line 1, column 77); 1 call stacks of events (sf, stack) are left out (the first at line 1, column 17); 1 events end and did not begin

$ dwell import cut.json -o cut.dwell; dwell report --view threads --format csv cut.dwell
thread,pid,tid,records,ranges,first_ns,last_ns,busy_ns,busy_share,gap_ns,lost,threads
5,5,5,2,1,0,4000,4000,1,0,0,1
2> dwell: cut.json: 1 events are of a kind that dwell does not know (ph O), and are left out (the first at line 1, column 77); 1 call stacks of events (sf, stack) are left out (the first at line 1, column 17); 1 events end and did not begin; the file ends too early at line 2, column 1; what lies before is here
2> dwell: cut.dwell: the file ends too early at line 2, column 1; what lies before is here
2> dwell: lost: 3 records: 1 events are of a kind that dwell does not know (ph O), and are left out (the first at line 1, column 77); 1 call stacks of events (sf, stack) are left out (the first at line 1, column 17); 1 events end and did not begin

$ dwell pack cut.dwell 2> /dev/null; dwell report --view threads --format csv cut.dwell; rm cut.*
thread,pid,tid,records,ranges,first_ns,last_ns,busy_ns,busy_share,gap_ns,lost,threads
5,5,5,2,1,0,4000,4000,1,0,0,1
2> dwell: cut.dwell: the file ends too early at line 2, column 1; what lies before is here
2> dwell: lost: 3 records: 1 events are of a kind that dwell does not know (ph O), and are left out (the first at line 1, column 77); 1 call stacks of events (sf, stack) are left out (the first at line 1, column 17); 1 events end and did not begin

# What no importer reads is named, with what to do.
$ dwell export --format perfetto run.dwell -o run.pftrace && dwell report run.pftrace
2> dwell: run.pftrace is not a dwell trace: it is a trace of Perfetto: traceconv json (perfetto.dev) makes Chrome JSON of it, which dwell reads. If dwell exported it, name the trace itself
[1]

$ dwell import run.pftrace -o x.dwell
2> dwell: run.pftrace has no form that dwell imports: it is a trace of Perfetto: traceconv json (perfetto.dev) makes Chrome JSON of it, which dwell reads. If dwell exported it, name the trace itself (man dwell-import names those)
[1]

$ dwell export --format pprof run.dwell -o run.pprof && dwell report run.pprof
2> dwell: run.pprof is not a dwell trace: it is a profile of pprof, which has sums without times: pprof shows it. If dwell exported it, name the trace itself
[1]

$ dwell export --format speedscope run.dwell -o run.speedscope.json && dwell report run.speedscope.json
2> dwell: run.speedscope.json is JSON without "traceEvents", "rocprofiler-sdk-tool" or "resourceSpans": it is a profile of speedscope, which shows it. If dwell exported it, name the trace itself
[1]

$ printf 'PERFILE2 and more' > perf.data && dwell report perf.data
2> dwell: perf.data is not a dwell trace: it is data of perf, which dwell does not read: perf report shows it; dwell run --sample 100 records call stacks
[1]

$ rm run.pftrace run.pprof run.speedscope.json perf.data

$ dwell import rank0.json text -o x.dwell
2> dwell: text is no Chrome trace: only these can be imported together
[1]

$ ls
package.json
rank0.json
rank1.json
run.dwell
text
