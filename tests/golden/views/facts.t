$ trace samples && dwell report samples.dwell --view facts
fact                           value         95% interval    of                                              samples  what
run.wall                       660 ms                                                                              1
run.after                      not measured                  the run without waits for a CPU                          what follows the last step is not the largest part of the run
run.after_calls                not measured                                                                           what follows the last step is not the largest part of the run
run.after_call                 not measured                  a call                                                   what follows the last step is not the largest part of the run
run.delay                      not measured                  the run                                                  the kernel's account was not read: record with dwell run
run.loops                      1                                                                                   1
run.ranks                      1                                                                                   1
run.profiler                   not measured                  the loop                                                 the cost was not measured: record with dwell run
trace.python                   1                                                                                   1
trace.torch                    1                                                                                   1
trace.framework                2                                                                                   1  PyTorch
trace.functions                0                                                                                   1
trace.shapes                   0                                                                                   1
trace.memory                   0                                                                                   1
trace.device_unseen            0.0%                          the loop                                              1
loop.wall                      646 ms                                                                              1
loop.steps                     85.1%                         the loop                                             25
loop.evaluation                0.0%                          the loop                                              0
loop.checkpoint                0.0%                          the loop                                              0
loop.logging                   not measured                  the loop                                                 no range is named log or logging
loop.data                      0.0%                          the loop                                              0
loop.collector                 0.0%                          the loop                                              0
loop.communication             0.0%                          the loop                                              0
loop.device                    0.0%                          the loop                                              0
loop.profiler                  0.0%                          the loop                                              0
loop.operators                 0.0%                          the loop                                              1
loop.named                     0.0%                          the loop                                              1
loop.waiting                   not measured                  the loop                                                 the trace has no readings of the kernel's account between steps
loop.python                    14.9%                         the loop                                              1
loop.unnamed                   not measured                  the loop                                                 in a Python program it is part of loop.python
loop.evaluation_all            0.0%                          the loop                                             25
loop.checkpoint_all            0.0%                          the loop                                             25
loop.collector_all             0.0%                          the loop                                             25
loop.logging_all               not measured                  the loop                                                 record with dwell run --functions
loop.data_all                  0.0%                          the loop                                             25
loop.communication_all         0.0%                          the loop                                             25
loop.evaluations               0                                                                                   1
loop.checkpoints               0                                                                                   1
loop.calls                     0                             a step                                                1
step.count                     25                                                                                 25
step.counted                   25                                                                                 25
step.steady                    25                                                                                 25
step.wall                      22.0 ms                       a steady step                                        25
step.mean                      22.0 ms                       a step                                               25
step.spread                    0.0%                          a steady step                                        25
step.excess                    0.0%                          the loop                                             25
step.warm_up                   0                                                                                   0
step.warm_up_excess            0.0%                          the loop                                              0
step.outliers                  0                                                                                   0
step.recurs                    not measured                                                                           slow iterations do not come at regular intervals
step.outliers_excess           0.0%                          the loop                                              0
step.profiler                  0.0%                          a steady step                                        25
step.collector                 0.0%                          a steady step                                        25
step.data                      0.0%                          a steady step                                        25
step.communication             0.0%                          a steady step                                        25
step.device                    0.0%                          a steady step                                        25
step.checkpoint                0.0%                          a steady step                                        25
step.evaluation                0.0%                          a steady step                                        25
step.optimizer                 0.0%                          a steady step                                        25
step.backward                  27.3%                         a steady step                                        25
step.forward                   27.3%                         a steady step                                        25
step.operators                 0.0%                          a steady step                                        25
step.layers                    not measured                  a steady step                                            in a Python program it is part of step.python
step.functions                 not measured                  a steady step                                            in a Python program it is part of step.python
step.named                     0.0%                          a steady step                                        25
step.python                    36.4%                         a steady step                                        25
step.idle                      9.1%                          a steady step                                        25
step.unnamed                   not measured                  a steady step                                            in a Python program it is part of step.python
step.forward_all               68.2%                         a steady step                                        25
step.backward_all              31.8%                         a steady step                                        25
step.optimizer_all             0.0%                          a steady step                                        25
step.named_largest             0.0%                          a steady step                                        25
cpu.busy                       0.91                          a steady step                                        25
cpu.delay                      not measured                  a steady step                                            record with this version of dwell: the trace has no readings of the kernel's account
cpu.waiting                    not measured                  a steady step                                            record with this version of dwell: the trace has no readings of the kernel's account
cpu.switches_wait              not measured                  a steady step                                            record with this version of dwell: the trace has no readings of the kernel's account
cpu.switches_forced            not measured                  a steady step                                            record with this version of dwell: the trace has no readings of the kernel's account
cpu.faults_minor               not measured                  a steady step                                            record with this version of dwell: the trace has no readings of the kernel's account
cpu.instructions               not measured                  a steady step                                            dwell run --counters, if the kernel permits it
cpu.cycles                     not measured                  a steady step                                            dwell run --counters, if the kernel permits it
cpu.instructions_per_cycle     not measured                  a clock cycle                                            dwell run --counters, if the kernel permits it
cpu.cache_misses               not measured                  a steady step                                            dwell run --counters, if the kernel permits it
cpu.cpus                       not measured                                                                           record with dwell run
cpu.threads                    not measured                                                                           the number of threads that can run is not in the trace
cpu.operator_threads           not measured                                                                           the number of threads of an operator is not in the trace
cpu.others                     not measured                  the machine's CPUs                                       record with dwell run; the loop must last a second
cpu.left                       not measured                                                                           record with dwell run; the loop must last a second
cpu.stolen                     not measured                  the time for which the machine's CPUs had work           record with dwell run; the loop must last a second
cpu.crowded                    not measured                  the loop                                                 record with dwell run; the loop must last a second
cpu.taken                      not measured                  the CPU time of the program's other threads              no function of the program has half of it
cpu.spun                       not measured                  the CPU time of the program's other threads              less than half of it
loader.workers                 not measured                                                                           the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.workers_started         not measured                                                                           the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.epochs                  not measured                                                                           the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.batches                 not measured                                                                           the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.in_process              not measured                  a steady step                                            the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.threads                 0.0%                          the loop                                              1
loader.starved                 not measured                  a steady step                                            the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.hand_over               not measured                  a steady step                                            the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.hand_over_ns            not measured                  a batch                                                  the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.collector               not measured                  the loop                                                 the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.production              not measured                  a batch                                                  the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.runs                    not measured                  a batch's production                                     the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.spare                   not measured                                                                           the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.sample                  not measured                  a sample                                                 the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.part                    not measured                  a batch's production                                     the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.start                   not measured                  an epoch                                                 the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.start_share             not measured                  the loop                                                 the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.empty                   not measured                  a batch                                                  the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.ready                   not measured                  a batch                                                  the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.busy                    not measured                  the workers' time                                        the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.slowest                 not measured                  the median worker                                        the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
loader.variation               not measured                  a batch's production                                     the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, "name")
operators.count                2                             a steady step                                        25
operators.share                54.5%                         a steady step                                        25
operators.largest              27.3%                         a steady step                                        25  aten::linear, forward (model.py:14)
operators.largest_count        1                             a steady step                                        25  aten::linear
operators.uncommon             not measured                  a steady step                                            no such operator takes a quarter of a step
operators.uncommon_count       not measured                  a steady step                                            no such operator takes a quarter of a step
operators.small                0.0%                          a steady step                                        25
operators.small_count          0                             a steady step                                        25
operators.small_mean           not measured                  a small operator                                         the trace has nothing of it
operators.synchronising        0.0%                          a steady step                                        25
operators.synchronising_count  0                             a steady step                                        25
operators.layout               0.0%                          a steady step                                        25
operators.copies               0.0%                          a steady step                                        25
operators.clears               0.0%                          a steady step                                        25
operators.moved                not measured                  a steady step                                            no operator has half of that
operators.elementwise          0.0%                          a steady step                                        25
operators.first_shapes         not measured                  the loop                                                 record with dwell run --shapes
operators.new_shapes           not measured                                                                           record with dwell run --shapes
operators.compilation          not measured                  the loop                                                 no compiled region was called
operators.compilations         not measured                                                                           no compiled region was called
operators.compiled             0                             a steady step                                        25
operators.graph_breaks         not measured                  a steady step                                            no compiled region was called
operators.float64              not measured                  a steady step                                            the types of operators are not in the trace
operators.float32              not measured                  a steady step                                            record with dwell run --shapes
optimizer.count                0                             a steady step                                        25
optimizer.fused                0                                                                                  25
optimizer.foreach              0                                                                                  25
gradients.unused               not measured                  the parameters that get gradients                        all parameters that get gradients are an optimizer's, as far as PyTorch's probe saw
gradients.unused_count         not measured                                                                           all parameters that get gradients are an optimizer's, as far as PyTorch's probe saw
gradients.embeddings           not measured                  the parameters that get gradients                        no embeddings with dense gradients have half of the parameters
data.padding                   not measured                  the places in the rows of a batch                        no batch of rows of numbers was seen in the memory of the process
data.longest                   not measured                  the places of a row                                      no batch of rows of numbers was seen in the memory of the process
evaluation.trained             not measured                  evaluation                                               whether the model is trained is not in the trace
evaluation.graphs              not measured                  evaluation                                               whether gradients are enabled is not in the trace
evaluation.times               not measured                                                                           the trace has nothing of it
memory.peak                    not measured                                                                           no allocations were recorded: record with dwell run, without --no-memory
memory.capacity                not measured                                                                           no allocations were recorded: record with dwell run, without --no-memory
memory.peak_share              not measured                  the capacity                                             no allocations were recorded: record with dwell run, without --no-memory
memory.growth                  not measured                  a step                                                   no allocations were recorded: record with dwell run, without --no-memory
memory.growth_share            not measured                  the peak                                                 no allocations were recorded: record with dwell run, without --no-memory
memory.temporaries_share       not measured                  the peak                                                 no allocations were recorded: record with dwell run, without --no-memory
memory.gradients_kept          not measured                  the peak                                                 no allocations were recorded: record with dwell run, without --no-memory
memory.inputs                  not measured                  the peak                                                 no allocations were recorded: record with dwell run, without --no-memory
comm.exposed                   0.0%                          a step and the time before it                        25
comm.count                     not measured                  a steady step                                            collectives are not counted by step yet
comm.messages                  not measured                  the communication of the run                             the trace has nothing of it
comm.wait                      not measured                  a step and the time before it                            the trace has steps of only one process
comm.last_rank                 not measured                                                                           the trace has steps of only one process
comm.last_rank_share           not measured                  the steps                                                the trace has steps of only one process
comm.last_rank_excess          not measured                  a step and the time before it                            the trace has steps of only one process
places.between                 not measured                  the loop                                                 lines are known for Python 3.11 to 3.14 with PyTorch; nothing of a millisecond lay between two operators
places.largest                 not measured                  the loop                                                 lines are known for Python 3.11 to 3.14 with PyTorch; nothing of a millisecond lay between two operators
places.largest_longest         not measured                                                                           lines are known for Python 3.11 to 3.14 with PyTorch; nothing of a millisecond lay between two operators
places.python                  not measured                  the steps                                                lines are known for Python 3.11 to 3.14 with PyTorch; nothing of a millisecond lay between two operators
samples.step                   4.04                          a step                                              101
samples.python                 75.8%         65.5% to 86.0%  CPU time of Python in the loop                       74  tokenize, text.py:90
samples.engine                 0.0%          0.0% to 3.8%    CPU time of Python in the loop                       74
samples.unnamed                not measured                  CPU time of step.unnamed                                 fewer than 20 samples of call stacks lie there
samples.loop                   100.0%                        CPU time in the loop                                150  main, train.py:41
drift.slope                    not measured                  the median step                                          there are fewer than 30 steady steps
drift.change                   not measured                  the median step before                                   there are fewer than 30 steady steps
drift.change_step              not measured                                                                           there are fewer than 30 steady steps
drift.own                      not measured                  the change                                               there are fewer than 30 steady steps
drift.work                     not measured                  the operators of the earlier steps                       there are fewer than 30 steady steps
drift.gaps                     not measured                  the loop                                                 there are fewer than 30 steady steps
drift.gaps_change              not measured                  the loop                                                 there are fewer than 30 steady steps
drift.gaps_step                not measured                                                                           there are fewer than 30 steady steps
input.variation                not measured                  the spread of the steps                                  no allocations were recorded: record with dwell run, without --no-memory
input.trend                    not measured                  the mean size                                            no allocations were recorded: record with dwell run, without --no-memory
input.grows                    not measured                  the steps                                                no allocations were recorded: record with dwell run, without --no-memory
input.largest                  not measured                  a step                                                   no allocations were recorded: record with dwell run, without --no-memory
flops.step                     not measured                  a step                                                   record with dwell run --flops
flops.slow                     not measured                  a step                                                   record with dwell run --flops
flops.slow_share               not measured                  the peak                                                 record with dwell run --flops
device.step                    not measured                                                                           the trace has no events of a device
device.behind                  not measured                  the loop on the device                                   the trace has no events of a device
device.busy                    not measured                  a step on the device                                     the trace has no events of a device
device.idle                    not measured                  a step on the device                                     the trace has no events of a device
device.compute                 not measured                  a step                                                   the trace has no events of a device
device.communication           not measured                  a step                                                   the trace has no events of a device
device.copy                    not measured                  a step                                                   the trace has no events of a device
device.host_late               not measured                  a step                                                   the trace has no events of a device
device.sync                    not measured                  a step                                                   the trace has no events of a device
device.first                   not measured                  a step                                                   the trace has no events of a device
device.wait                    not measured                  a step                                                   the trace has no events of a device
device.latency                 not measured                  a step                                                   the trace has no events of a device
device.queued                  not measured                  a step                                                   the trace has no events of a device
device.unknown                 not measured                  a step                                                   the trace has no events of a device
device.start                   not measured                  a step                                                   the trace has no events of a device
device.nothing                 not measured                  a step                                                   the trace has no events of a device
device.late_long               not measured                  device.host_late                                         the trace has no events of a device
device.pageable                not measured                  copies' time                                             the trace has no events of a device

123 of 205 facts are not measured; each says why.

$ trace loader && dwell report loader.dwell --view facts --format json
{"dwell":1,"views":[
{"view":"facts","traces":["loader.dwell"],"scope":{},
 "columns":[
  {"name":"fact","label":"fact","unit":"","type":"text"},
  {"name":"shown","label":"value","unit":"","type":"text"},
  {"name":"interval","label":"95% interval","unit":"","type":"text"},
  {"name":"denominator","label":"of","unit":"","type":"text"},
  {"name":"value","label":"value","unit":"","type":"real"},
  {"name":"low","label":"low","unit":"","type":"real"},
  {"name":"high","label":"high","unit":"","type":"real"},
  {"name":"unit","label":"unit","unit":"","type":"text"},
  {"name":"samples","label":"samples","unit":"count","type":"int"},
  {"name":"evidence","label":"what","unit":"","type":"text"},
  {"name":"missing","label":"not measured","unit":"","type":"text"},
  {"name":"meaning","label":"meaning","unit":"","type":"text"}],
 "rows":[
  ["run.wall","298 ms",null,"",298400000,298400000,298400000,"ns",1,null,null,"wall time of the loop's process, from its start to its end"],
  ["run.after","not measured",null,"the run without waits for a CPU",null,null,null,"ratio",null,"what follows the last step is not the largest part of the run","what follows the last step is not the largest part of the run","what follows the last step, if it is longer than the start-up and the loop is less than half of the run; the place is the function of the program that has most of it"],
  ["run.after_calls","not measured",null,"",null,null,null,"count",null,"what follows the last step is not the largest part of the run","what follows the last step is not the largest part of the run","calls of models in it, if they take most of it"],
  ["run.after_call","not measured",null,"a call",null,null,null,"ns",null,"what follows the last step is not the largest part of the run","what follows the last step is not the largest part of the run","the mean length of these"],
  ["run.delay","not measured",null,"the run",null,null,null,"ratio",null,"the kernel's account was not read: record with dwell run","the kernel's account was not read: record with dwell run","time in which the main thread could run and had no CPU"],
  ["run.loops","1",null,"",1,1,1,"count",1,null,null,"threads with steps"],
  ["run.ranks","1",null,"",1,1,1,"count",1,null,null,"processes with steps"],
  ["run.profiler","not measured",null,"the loop",null,null,null,"ratio",null,"the cost was not measured: record with dwell run","the cost was not measured: record with dwell run","estimated cost of recording: of all ranges, and the recorder's own work"],
  ["trace.python","1",null,"",1,1,1,"count",1,null,null,"the loop's process is a Python program"],
  ["trace.torch","0",null,"",0,0,0,"count",1,null,null,"PyTorch's probe recorded the process"],
  ["trace.framework","2",null,"",2,2,2,"count",1,"PyTorch",null,"number of the framework: enum dw_facts_framework; its name is the note"],
  ["trace.functions","0",null,"",0,0,0,"count",1,null,null,"functions were recorded"],
  ["trace.shapes","0",null,"",0,0,0,"count",1,null,null,"operators have shapes"],
  ["trace.memory","0",null,"",0,0,0,"count",1,null,null,"allocations were recorded"],
  ["trace.device_unseen","100.0%",null,"the loop",1,1,1,"ratio",1,null,null,"part of it in which a device was used and its work was not recorded"],
  ["loop.wall","288 ms",null,"",288400000,288400000,288400000,"ns",1,null,null,"wall time of the loop"],
  ["loop.steps","94.5%",null,"the loop",0.944521498,0.944521498,0.944521498,"ratio",16,null,null,"time in steps; with the next thirteen it makes up the loop"],
  ["loop.evaluation","0.0%",null,"the loop",0,0,0,"ratio",0,null,null,"evaluation outside the steps"],
  ["loop.checkpoint","0.0%",null,"the loop",0,0,0,"ratio",0,null,null,"checkpoints outside the steps"],
  ["loop.logging","not measured",null,"the loop",null,null,null,"ratio",null,"no range is named log or logging","no range is named log or logging","ranges named log or logging outside the steps"],
  ["loop.data","0.0%",null,"the loop",0,0,0,"ratio",0,null,null,"data loading outside the steps, with the start of workers"],
  ["loop.collector","5.5%",null,"the loop",0.0554785021,0.0554785021,0.0554785021,"ratio",4,null,null,"garbage collection outside the steps"],
  ["loop.communication","0.0%",null,"the loop",0,0,0,"ratio",0,null,null,"communication outside the steps"],
  ["loop.device","0.0%",null,"the loop",0,0,0,"ratio",0,null,null,"waits for a device outside the steps"],
  ["loop.profiler","0.0%",null,"the loop",0,0,0,"ratio",0,null,null,"the recorder's own work outside the steps"],
  ["loop.operators","0.0%",null,"the loop",0,0,0,"ratio",1,null,null,"operators outside the steps and outside the parts above"],
  ["loop.named","0.0%",null,"the loop",0,0,0,"ratio",1,null,null,"other named ranges outside the steps; the largest is the symbol"],
  ["loop.waiting","not measured",null,"the loop",null,null,null,"ratio",null,"the trace has no readings of the kernel's account between steps","the trace has no readings of the kernel's account between steps","time outside the steps in no part above, in which the process used no CPU"],
  ["loop.python","0.0%",null,"the loop",0,0,0,"ratio",1,null,null,"the rest in a Python program, without waits for a CPU: the interpreter's, and waits where they are not measured"],
  ["loop.unnamed","not measured",null,"the loop",null,null,null,"ratio",null,"in a Python program it is part of loop.python","in a Python program it is part of loop.python","the rest in a program without Python, without waits for a CPU: while other programs use a quarter of the CPUs, at most what samples show there, as of loop.python"],
  ["loop.evaluation_all","0.0%",null,"the loop",0,0,0,"ratio",16,null,null,"evaluation in and outside the steps"],
  ["loop.checkpoint_all","0.0%",null,"the loop",0,0,0,"ratio",16,null,null,"checkpoints in and outside the steps"],
  ["loop.collector_all","6.9%",null,"the loop",0.0693481276,0.0693481276,0.0693481276,"ratio",16,null,null,"garbage collection in and outside the steps, without the warm-up"],
  ["loop.logging_all","not measured",null,"the loop",null,null,null,"ratio",null,"record with dwell run --functions","record with dwell run --functions","logging in and outside the steps: functions of loggers, or ranges named log or logging; symbol: the largest"],
  ["loop.data_all","50.1%",null,"the loop",0.500693481,0.500693481,0.500693481,"ratio",16,null,null,"data loading in and outside the steps"],
  ["loop.communication_all","0.0%",null,"the loop",0,0,0,"ratio",16,null,null,"communication in and outside the steps"],
  ["loop.evaluations","0",null,"",0,0,0,"count",1,null,null,"evaluations outside the steps"],
  ["loop.checkpoints","0",null,"",0,0,0,"count",1,null,null,"checkpoints outside the steps"],
  ["loop.calls","0",null,"a step",0,0,0,"count",1,null,null,"operators between the steps"],
  ["step.count","16",null,"",16,16,16,"count",16,null,null,"steps of the loop that ended"],
  ["step.counted","16",null,"",16,16,16,"count",16,null,null,"of these, recorded and without missing records"],
  ["step.steady","16",null,"",16,16,16,"count",16,null,null,"of these, neither warm-up nor outliers"],
  ["step.wall","20.0 ms","8.10 ms to 20.0 ms","a steady step",20000000,8100000,20000000,"ns",16,null,null,"duration"],
  ["step.mean","17.0 ms",null,"a step",17025000,17025000,17025000,"ns",16,null,null,"mean duration of the steps that ended"],
  ["step.spread","59.5%",null,"a steady step",0.595,0.595,0.595,"ratio",16,null,null,"from the 5th to the 95th percentile of the steady steps' durations, of their median"],
  ["step.excess","0.0%",null,"the loop",0,0,0,"ratio",16,null,null,"what steady steps and outliers take beyond the median step"],
  ["step.warm_up","0",null,"",0,0,0,"count",0,null,null,"first steps that took longer than the steady ones"],
  ["step.warm_up_excess","0.0%",null,"the loop",0,0,0,"ratio",0,null,null,"what they took beyond as many steady steps; note: the part with most of it"],
  ["step.outliers","0",null,"",0,0,0,"count",0,null,null,"later steps that took longer than the steady ones"],
  ["step.recurs","not measured",null,"",null,null,null,"count",null,"slow iterations do not come at regular intervals","slow iterations do not come at regular intervals","slow iterations come back after so many steps, at regular intervals"],
  ["step.outliers_excess","0.0%",null,"the loop",0,0,0,"ratio",0,null,null,"what they took beyond as many steady steps, without the start of loader workers; note: the part with most of it, or \"no CPU\"; symbol: its event"],
  ["step.profiler","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"the recorder's own work; with the next sixteen it makes up a step"],
  ["step.collector","1.5%","1.0% to 2.3%","a steady step",0.0146842878,0.0103950104,0.0227014756,"ratio",16,null,null,"garbage collection"],
  ["step.data","53.0%","50.1% to 54.6%","a steady step",0.53010279,0.501039501,0.545970488,"ratio",16,null,null,"waiting for data, or loading it"],
  ["step.communication","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"communication that the step waits for"],
  ["step.device","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"waits for a device"],
  ["step.checkpoint","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"checkpoints"],
  ["step.evaluation","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"evaluation; in Python its operators"],
  ["step.optimizer","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"optimizer; in Python its operators"],
  ["step.backward","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"backward; in Python its operators and those of other threads that it waits for"],
  ["step.forward","29.4%","28.4% to 31.2%","a steady step",0.293685756,0.283768445,0.311850312,"ratio",16,null,null,"forward; in Python its operators"],
  ["step.operators","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"operators in none of these parts"],
  ["step.layers","not measured",null,"a steady step",null,null,null,"ratio",null,"in a Python program it is part of step.python","in a Python program it is part of step.python","layers without a phase; in Python part of step.python"],
  ["step.functions","not measured",null,"a steady step",null,null,null,"ratio",null,"in a Python program it is part of step.python","in a Python program it is part of step.python","functions in no other range; in Python part of step.python"],
  ["step.named","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"ranges under the program's own names; the largest is the symbol"],
  ["step.python","16.2%","14.8% to 17.7%","a steady step",0.161527166,0.147559591,0.176715177,"ratio",16,null,null,"the interpreter: what operators, waits and other named parts do not explain"],
  ["step.idle","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"the part of the rest in which the process used no CPU and did not wait for one"],
  ["step.unnamed","not measured",null,"a steady step",null,null,null,"ratio",null,"in a Python program it is part of step.python","in a Python program it is part of step.python","the rest in a program without Python, without waits for a CPU"],
  ["step.forward_all","29.4%","28.4% to 31.2%","a steady step",0.293685756,0.283768445,0.311850312,"ratio",16,null,null,"forward from begin to end, with what is in it"],
  ["step.backward_all","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"backward from begin to end, with what is in it"],
  ["step.optimizer_all","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"optimizer from begin to end, with what is in it but forward and backward that a closure runs"],
  ["step.named_largest","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"the part of step.named under the name that takes most of it; symbol: the name"],
  ["cpu.busy","0.40","0.40 to 0.99","a steady step",0.4,0.4,0.987654321,"count",16,null,null,"CPUs that the process kept busy: its CPU time for each ns of wall time"],
  ["cpu.delay","not measured",null,"a steady step",null,null,null,"ratio",null,"record with this version of dwell: the trace has no readings of the kernel's account","record with this version of dwell: the trace has no readings of the kernel's account","time in which the step's thread could run and had no CPU"],
  ["cpu.waiting","not measured",null,"a steady step",null,null,null,"ratio",null,"record with this version of dwell: the trace has no readings of the kernel's account","record with this version of dwell: the trace has no readings of the kernel's account","time in which the step's thread neither ran nor waited for a CPU, whatever range it was in"],
  ["cpu.switches_wait","not measured",null,"a steady step",null,null,null,"count",null,"record with this version of dwell: the trace has no readings of the kernel's account","record with this version of dwell: the trace has no readings of the kernel's account","context switches because the thread waited"],
  ["cpu.switches_forced","not measured",null,"a steady step",null,null,null,"count",null,"record with this version of dwell: the trace has no readings of the kernel's account","record with this version of dwell: the trace has no readings of the kernel's account","context switches because another thread got the CPU"],
  ["cpu.faults_minor","not measured",null,"a steady step",null,null,null,"count",null,"record with this version of dwell: the trace has no readings of the kernel's account","record with this version of dwell: the trace has no readings of the kernel's account","page faults without input: mean"],
  ["cpu.instructions","not measured",null,"a steady step",null,null,null,"count",null,"dwell run --counters, if the kernel permits it","dwell run --counters, if the kernel permits it","instructions of the step's own thread in user space"],
  ["cpu.cycles","not measured",null,"a steady step",null,null,null,"count",null,"dwell run --counters, if the kernel permits it","dwell run --counters, if the kernel permits it","clock cycles of a core in which that thread ran in user space"],
  ["cpu.instructions_per_cycle","not measured",null,"a clock cycle",null,null,null,"count",null,"dwell run --counters, if the kernel permits it","dwell run --counters, if the kernel permits it","instructions of that thread in a clock cycle, over the steady steps"],
  ["cpu.cache_misses","not measured",null,"a steady step",null,null,null,"count",null,"dwell run --counters, if the kernel permits it","dwell run --counters, if the kernel permits it","accesses of that thread that its last level of cache did not serve"],
  ["cpu.cpus","not measured",null,"",null,null,null,"count",null,"record with dwell run","record with dwell run","CPUs of the machine that the program may use: its affinity, and the quota of a container"],
  ["cpu.threads","not measured",null,"",null,null,null,"count",null,"the number of threads that can run is not in the trace","the number of threads that can run is not in the trace","threads that could run at one time: intra-op threads of each process with operators, and loader workers"],
  ["cpu.operator_threads","not measured",null,"",null,null,null,"count",null,"the number of threads of an operator is not in the trace","the number of threads of an operator is not in the trace","threads that an operator may use"],
  ["cpu.others","not measured",null,"the machine's CPUs",null,null,null,"ratio",null,"record with dwell run; the loop must last a second","record with dwell run; the loop must last a second","CPU time of other programs in the loop"],
  ["cpu.left","not measured",null,"",null,null,null,"count",null,"record with dwell run; the loop must last a second","record with dwell run; the loop must last a second","CPUs that each rank has: those that the program may use and that other programs leave to it in the loop"],
  ["cpu.stolen","not measured",null,"the time for which the machine's CPUs had work",null,null,null,"ratio",null,"record with dwell run; the loop must last a second","record with dwell run; the loop must last a second","in the loop the hypervisor ran other virtual machines on them"],
  ["cpu.crowded","not measured",null,"the loop",null,null,null,"ratio",null,"record with dwell run; the loop must last a second","record with dwell run; the loop must last a second","wait for a CPU because of the program's own threads: 1 - c / n on average, while n threads of it and its child processes run or wait for one of c CPUs"],
  ["cpu.taken","not measured",null,"the CPU time of the program's other threads",null,null,null,"ratio",null,"no function of the program has half of it","no function of the program has half of it","the function of the program that has half of it or more; also of its child processes"],
  ["cpu.spun","not measured",null,"the CPU time of the program's other threads",null,null,null,"ratio",null,"no samples","no samples","those that use the CPU to wait for another thread, if that is half of it"],
  ["loader.workers","2",null,"",2,2,2,"count",1,null,null,"workers at one time"],
  ["loader.workers_started","2",null,"",2,2,2,"count",1,null,null,"workers of all epochs"],
  ["loader.epochs","1",null,"",1,1,1,"count",1,null,null,"times that the loop began to iterate over a loader"],
  ["loader.batches","16",null,"",16,16,16,"count",1,null,null,"batches that the loop asked for"],
  ["loader.in_process","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"the loop loads its batches itself"],
  ["loader.threads","not measured",null,"the loop",null,null,null,"ratio",null,"record with dwell run --sample 100","record with dwell run --sample 100","waits of the loop for a lock or another thread of the program in ranges of data"],
  ["loader.starved","48.1%","40.5% to 54.0%","a steady step",0.480543319,0.405221339,0.540295119,"ratio",16,null,null,"waits for a batch that was not ready: production is the limit"],
  ["loader.hand_over","0.6%","0.5% to 0.6%","a steady step",0.00550660793,0.00454029512,0.00623700624,"ratio",16,null,null,"requests while a batch was ready: unpickling, shared memory, pinning"],
  ["loader.hand_over_ns","100 us",null,"a batch",100000,100000,100000,"ns",4,null,null,"median time of a request while a batch was ready, of the means of two successive ones"],
  ["loader.collector","0.0%",null,"the loop",0,0,0,"ratio",16,null,null,"garbage collection within requests for data: unpickling makes the objects that it looks at; it is part of loop.collector_all"],
  ["loader.production","36.0 ms",null,"a batch",36000000,36000000,36000000,"ns",14,null,null,"time that a worker, or the loop itself, takes to make a batch: median"],
  ["loader.runs","not measured",null,"a batch's production",null,null,null,"ratio",null,"no samples of the threads that make batches","no samples of the threads that make batches","in which the thread that makes it runs; the rest are waits, also for a CPU; note: the function that most of the workers' time is in"],
  ["loader.spare","not measured",null,"",null,null,null,"count",null,"no samples of the threads that make batches","no samples of the threads that make batches","CPUs that are there to make batches: cpu.left without those that the loop's process uses for other work"],
  ["loader.sample","4.50 ms",null,"a sample",4500000,4500000,4500000,"ns",128,null,null,"mean time of a sample"],
  ["loader.part","not measured",null,"a batch's production",null,null,null,"ratio",null,"record with dwell run --functions","record with dwell run --functions","the named part, operator or function that takes most; symbol: its name"],
  ["loader.start","0",null,"an epoch",0,0,0,"ns",1,null,null,"mean time that the loop waits for workers to start and to end, where an epoch has new ones: DataLoader.__iter__, the first batch beyond a usual one, and the request that ends the epoch beyond a usual one"],
  ["loader.start_share","0.0%",null,"the loop",0,0,0,"ratio",0,null,null,"all starts and ends of workers within the loop, but the first start"],
  ["loader.empty","73.3%",null,"a batch",0.733333333,0.733333333,0.733333333,"ratio",15,null,null,"requests that found the queue empty, without the first batches of epochs"],
  ["loader.ready","0.50",null,"a batch",0.5,0.5,0.5,"count",16,null,null,"mean number of batches that were ready at a request"],
  ["loader.busy","97.6%",null,"the workers' time",0.976271186,0.976271186,0.976271186,"ratio",2,null,null,"time in which workers made batches, from their first batch to their last"],
  ["loader.slowest","1.0x",null,"the median worker",1,1,1,"times",2,"python3",null,"median time of a batch of the slowest worker, as a multiple of the median worker's; note: its thread"],
  ["loader.variation","1.0x",null,"a batch's production",1,1,1,"times",14,null,null,"99th percentile of a batch's production, as a multiple of the median"],
  ["operators.count","1",null,"a steady step",1,1,1,"count",16,null,null,"operators"],
  ["operators.share","29.4%","28.4% to 31.2%","a steady step",0.293685756,0.283768445,0.311850312,"ratio",16,null,null,"time in operators, whatever phase they are in"],
  ["operators.largest","29.4%",null,"a steady step",0.293685756,0.293685756,0.293685756,"ratio",16,"aten::linear",null,"self time of the operator that takes most; symbol: its name"],
  ["operators.largest_count","1",null,"a steady step",1,1,1,"count",16,"aten::linear",null,"calls of this operator"],
  ["operators.uncommon","not measured",null,"a steady step",null,null,null,"ratio",null,"no such operator takes a quarter of a step","no such operator takes a quarter of a step","self time of the largest operator that few models need in each step: a decomposition, an order of elements, distances of all pairs; only from a quarter of a step on; symbol: its name"],
  ["operators.uncommon_count","not measured",null,"a steady step",null,null,null,"count",null,"no such operator takes a quarter of a step","no such operator takes a quarter of a step","calls of this operator"],
  ["operators.small","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"self time of names whose calls take less than 20 us of a CPU on average"],
  ["operators.small_count","0",null,"a steady step",0,0,0,"count",16,null,null,"calls of these names"],
  ["operators.small_mean","not measured",null,"a small operator",null,null,null,"ns",null,"the trace has nothing of it","the trace has nothing of it","mean self time of these calls"],
  ["operators.synchronising","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"calls that wait for a result: item, nonzero, copies to the host; symbol: the largest"],
  ["operators.synchronising_count","0",null,"a steady step",0,0,0,"count",16,null,null,"these calls"],
  ["operators.layout","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"reorders, contiguous() and transposed copies; symbol: the largest"],
  ["operators.copies","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"copies, without those of layout; symbol: the largest"],
  ["operators.clears","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"operators that write zeros or another value into memory; symbol: the largest"],
  ["operators.moved","not measured",null,"a steady step",null,null,null,"ratio",null,"no operator has half of that","no operator has half of that","of operators.layout, copies and clears, what one operator has done for it, if that is half of them; symbol: it, or the largest of them without one around it"],
  ["operators.elementwise","0.0%",null,"a steady step",0,0,0,"ratio",16,null,null,"elementwise operators: they move data and compute little; symbol: the largest"],
  ["operators.first_shapes","not measured",null,"the loop",null,null,null,"ratio",null,"record with dwell run --shapes","record with dwell run --shapes","what steps in which a shape was new took beyond nine tenths of the other steps, after the warm-up; only shapes that come again"],
  ["operators.new_shapes","not measured",null,"",null,null,null,"count",null,"record with dwell run --shapes","record with dwell run --shapes","steps in which a shape was new that comes again, after the warm-up"],
  ["operators.compilation","not measured",null,"the loop",null,null,null,"ratio",null,"no compiled region was called","no compiled region was called","what outliers took beyond steady steps, if regions were compiled again; without outliers as many of the longest steps beyond the median as there were compilations"],
  ["operators.compilations","not measured",null,"",null,null,null,"count",null,"no compiled region was called","no compiled region was called","compilations of regions that had been compiled before; the function that was compiled most often, and the guard that failed last"],
  ["operators.compiled","0",null,"a steady step",0,0,0,"count",16,null,null,"calls of compiled regions: more than 0 means that the model is compiled"],
  ["operators.graph_breaks","not measured",null,"a steady step",null,null,null,"count",null,"no compiled region was called","no compiled region was called","compiled regions of forward beyond the first"],
  ["operators.float64","not measured",null,"a steady step",null,null,null,"ratio",null,"the types of operators are not in the trace","the types of operators are not in the trace","operators that compute in 64-bit floating point; symbol: the largest"],
  ["operators.float32","not measured",null,"a steady step",null,null,null,"ratio",null,"record with dwell run --shapes","record with dwell run --shapes","products in 32-bit floating point, on a processor with instructions for 16-bit ones"],
  ["optimizer.count","0",null,"a steady step",0,0,0,"count",16,null,null,"operators in the optimizer"],
  ["optimizer.fused","0",null,"",0,0,0,"count",16,null,null,"1: an operator of a fused optimizer was called in most steps"],
  ["optimizer.foreach","0",null,"",0,0,0,"count",16,null,null,"1: operators over lists of tensors were called in most steps"],
  ["gradients.unused","not measured",null,"the parameters that get gradients",null,null,null,"ratio",null,"all parameters that get gradients are an optimizer's, as far as PyTorch's probe saw","all parameters that get gradients are an optimizer's, as far as PyTorch's probe saw","those that no optimizer has; note: the part of the model with most of them"],
  ["gradients.unused_count","not measured",null,"",null,null,null,"count",null,"all parameters that get gradients are an optimizer's, as far as PyTorch's probe saw","all parameters that get gradients are an optimizer's, as far as PyTorch's probe saw","the numbers that these parameters consist of"],
  ["gradients.embeddings","not measured",null,"the parameters that get gradients",null,null,null,"ratio",null,"no embeddings with dense gradients have half of the parameters","no embeddings with dense gradients have half of the parameters","those of embeddings whose gradients have all rows, if they are half; note: the largest one"],
  ["data.padding","not measured",null,"the places in the rows of a batch",null,null,null,"ratio",null,"no batch of rows of numbers was seen in the memory of the process","no batch of rows of numbers was seen in the memory of the process","one value at the ends of rows of unlike length; note: the function that makes a batch, or a sample"],
  ["data.longest","not measured",null,"the places of a row",null,null,null,"ratio",null,"no batch of rows of numbers was seen in the memory of the process","no batch of rows of numbers was seen in the memory of the process","what the longest row of a batch uses"],
  ["evaluation.trained","not measured",null,"evaluation",null,null,null,"ratio",null,"whether the model is trained is not in the trace","whether the model is trained is not in the trace","time in which a model that the program trains is called in evaluation mode, without gradients"],
  ["evaluation.graphs","not measured",null,"evaluation",null,null,null,"ratio",null,"whether gradients are enabled is not in the trace","whether gradients are enabled is not in the trace","time in which gradients are enabled, so that a graph is built although no backward follows"],
  ["evaluation.times","not measured",null,"",null,null,null,"count",null,"the trace has nothing of it","the trace has nothing of it","evaluations in the run: calls of the model with no learning between them are one"],
  ["memory.peak","not measured",null,"",null,null,null,"bytes",null,"no allocations were recorded: record with dwell run, without --no-memory","no allocations were recorded: record with dwell run, without --no-memory","most bytes in use at one time; note: the device"],
  ["memory.capacity","not measured",null,"",null,null,null,"bytes",null,"no allocations were recorded: record with dwell run, without --no-memory","no allocations were recorded: record with dwell run, without --no-memory","bytes that the device has, or that the program may use of the machine: a container may limit them"],
  ["memory.peak_share","not measured",null,"the capacity",null,null,null,"ratio",null,"no allocations were recorded: record with dwell run, without --no-memory","no allocations were recorded: record with dwell run, without --no-memory","the peak"],
  ["memory.growth","not measured",null,"a step",null,null,null,"bytes",null,"no allocations were recorded: record with dwell run, without --no-memory","no allocations were recorded: record with dwell run, without --no-memory","growth over the steady steps; symbol: who made what is left"],
  ["memory.growth_share","not measured",null,"the peak",null,null,null,"ratio",null,"no allocations were recorded: record with dwell run, without --no-memory","no allocations were recorded: record with dwell run, without --no-memory","growth over all steady steps"],
  ["memory.temporaries_share","not measured",null,"the peak",null,null,null,"ratio",null,"no allocations were recorded: record with dwell run, without --no-memory","no allocations were recorded: record with dwell run, without --no-memory","temporaries at the peak, and what each step makes and frees outside its phases"],
  ["memory.gradients_kept","not measured",null,"the peak",null,null,null,"ratio",null,"no allocations were recorded: record with dwell run, without --no-memory","no allocations were recorded: record with dwell run, without --no-memory","gradients that are never freed: the least at any time of the loop's later part"],
  ["memory.inputs","not measured",null,"the peak",null,null,null,"ratio",null,"no allocations were recorded: record with dwell run, without --no-memory","no allocations were recorded: record with dwell run, without --no-memory","inputs at the peak"],
  ["comm.exposed","0.0%",null,"a step and the time before it",0,0,0,"ratio",16,null,null,"communication that the loop waits for, the largest over the ranks"],
  ["comm.count","not measured",null,"a steady step",null,null,null,"count",null,"collectives are not counted by step yet","collectives are not counted by step yet","collectives; symbol: the one that takes most"],
  ["comm.messages","not measured",null,"the communication of the run",null,null,null,"ratio",null,"the trace has nothing of it","the trace has nothing of it","messages between two ranks"],
  ["comm.wait","not measured",null,"a step and the time before it",null,null,null,"ratio",null,"the trace has steps of only one process","the trace has steps of only one process","the part of it in which ranks wait for the last one"],
  ["comm.last_rank","not measured",null,"",null,null,null,"count",null,"the trace has steps of only one process","the trace has steps of only one process","number of the rank that most often takes longest without communication; note: the part with the excess"],
  ["comm.last_rank_share","not measured",null,"the steps",null,null,null,"ratio",null,"the trace has steps of only one process","the trace has steps of only one process","steps in which this rank takes longest"],
  ["comm.last_rank_excess","not measured",null,"a step and the time before it",null,null,null,"ratio",null,"the trace has steps of only one process","the trace has steps of only one process","what this rank takes beyond the median rank"],
  ["places.between","not measured",null,"the loop",null,null,null,"ratio",null,"lines are known for Python 3.11 to 3.14 with PyTorch; nothing of a millisecond lay between two operators","lines are known for Python 3.11 to 3.14 with PyTorch; nothing of a millisecond lay between two operators","times of at least 1 ms from the end of an operator to the begin of the next one, without data loading and checkpoints"],
  ["places.largest","not measured",null,"the loop",null,null,null,"ratio",null,"lines are known for Python 3.11 to 3.14 with PyTorch; nothing of a millisecond lay between two operators","lines are known for Python 3.11 to 3.14 with PyTorch; nothing of a millisecond lay between two operators","of these, those between the two lines with the most; it names the lines"],
  ["places.largest_longest","not measured",null,"",null,null,null,"ns",null,"lines are known for Python 3.11 to 3.14 with PyTorch; nothing of a millisecond lay between two operators","lines are known for Python 3.11 to 3.14 with PyTorch; nothing of a millisecond lay between two operators","the longest time between these lines"],
  ["places.python","not measured",null,"the steps",null,null,null,"ratio",null,"lines are known for Python 3.11 to 3.14 with PyTorch; nothing of a millisecond lay between two operators","lines are known for Python 3.11 to 3.14 with PyTorch; nothing of a millisecond lay between two operators","of the times of at least 1 ms between two operators, those in steps in which the thread ran: no call of an operator takes so long"],
  ["samples.step","not measured",null,"a step",null,null,null,"count",null,"record with dwell run --sample 100","record with dwell run --sample 100","samples of call stacks"],
  ["samples.python","not measured",null,"CPU time of Python in the loop",null,null,null,"ratio",null,"record with dwell run --sample 100","record with dwell run --sample 100","of it without samples.engine the function of Python with most, with the native functions that it calls"],
  ["samples.engine","not measured",null,"CPU time of Python in the loop",null,null,null,"ratio",null,"record with dwell run --sample 100","record with dwell run --sample 100","in which the innermost function of Python runs the engine of autograd, a library of linear algebra computes, or memory is returned: that is no code of Python"],
  ["samples.unnamed","not measured",null,"CPU time of step.unnamed",null,null,null,"ratio",null,"record with dwell run --sample 100","record with dwell run --sample 100","the same"],
  ["samples.loop","not measured",null,"CPU time in the loop",null,null,null,"ratio",null,"record with dwell run --sample 100","record with dwell run --sample 100","the program's function of Python that the loop is in: it has most of that time, and little other; it and the line that it runs there are named"],
  ["drift.slope","not measured",null,"the median step",null,null,null,"ratio",null,"there are fewer than 30 steady steps","there are fewer than 30 steady steps","trend of the steady steps' durations, without waits for a CPU, 0 where chance explains it; note: the part or the program's own range that changes most"],
  ["drift.change","not measured",null,"the median step before",null,null,null,"ratio",null,"there are fewer than 30 steady steps","there are fewer than 30 steady steps","difference of the medians after and before a change point, without waits for a CPU, 0 without one; note: the part or the program's own range that changes most"],
  ["drift.change_step","not measured",null,"",null,null,null,"count",null,"there are fewer than 30 steady steps","there are fewer than 30 steady steps","number of the first step after the change point"],
  ["drift.own","not measured",null,"the change",null,null,null,"ratio",null,"there are fewer than 30 steady steps","there are fewer than 30 steady steps","what the part with the most changes by beyond the pace of all other parts; 0 if all parts change alike, as with the processor's clock; also what one of the program's own ranges changes by beyond all other time, and the part of the change that goes with the number of operators"],
  ["drift.work","not measured",null,"the operators of the earlier steps",null,null,null,"ratio",null,"there are fewer than 30 steady steps","there are fewer than 30 steady steps","how many more the later steps call, if that is half of the change"],
  ["drift.gaps","not measured",null,"the loop",null,null,null,"ratio",null,"there are fewer than 30 steady steps","there are fewer than 30 steady steps","what the time between steps takes beyond its length at the begin, by its trend; only from a tenth of the loop on, if the trend is at least 75% of the median and longer than that of the steps, if waits for data and ranks there take less than half of it, and if chance does not explain it"],
  ["drift.gaps_change","not measured",null,"the loop",null,null,null,"ratio",null,"there are fewer than 30 steady steps","there are fewer than 30 steady steps","what the time between steps takes beyond its length before a change point; only from a tenth of the loop on, if it grows there by at least 75% and by more than the steps do, and if waiting for data or other ranks is no more than half of it"],
  ["drift.gaps_step","not measured",null,"",null,null,null,"count",null,"there are fewer than 30 steady steps","there are fewer than 30 steady steps","number of the first step after this change point"],
  ["input.variation","not measured",null,"the spread of the steps",null,null,null,"ratio",null,"no allocations were recorded: record with dwell run, without --no-memory","no allocations were recorded: record with dwell run, without --no-memory","part of the spread of durations that goes with the size of the largest activation of a step"],
  ["input.trend","not measured",null,"the mean size",null,null,null,"ratio",null,"no allocations were recorded: record with dwell run, without --no-memory","no allocations were recorded: record with dwell run, without --no-memory","growth of the largest activation of a step over the run, 0 if it does not grow from step to step"],
  ["input.grows","not measured",null,"the steps",null,null,null,"ratio",null,"no allocations were recorded: record with dwell run, without --no-memory","no allocations were recorded: record with dwell run, without --no-memory","steps whose largest activation is larger than that of the step before; 0 if they may be half of them by chance"],
  ["input.largest","not measured",null,"a step",null,null,null,"bytes",null,"no allocations were recorded: record with dwell run, without --no-memory","no allocations were recorded: record with dwell run, without --no-memory","mean size of the largest activation of a step: it grows with the batch, and prefetched batches do not change it"],
  ["flops.step","not measured",null,"a step",null,null,null,"count",null,"record with dwell run --flops","record with dwell run --flops","arithmetic operations"],
  ["flops.slow","not measured",null,"a step",null,null,null,"ratio",null,"record with dwell run --flops","record with dwell run --flops","products of matrices, convolutions and attention, of each name that reaches less than 30% of the peak while the thread has a CPU; symbol: the name with most"],
  ["flops.slow_share","not measured",null,"the peak",null,null,null,"ratio",null,"record with dwell run --flops","record with dwell run --flops","operations in a second of those while the thread has a CPU"],
  ["device.step","not measured",null,"",null,null,null,"ns",null,"the trace has no events of a device","the trace has no events of a device","a step on the device (mean): from the end of the step before to the end of all that the host submitted in the step; without what recording adds, where bursts tell it"],
  ["device.behind","not measured",null,"the loop on the device",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","for how long the device works on after the loop's last step"],
  ["device.busy","not measured",null,"a step on the device",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","time in which the device computes, communicates or copies"],
  ["device.idle","not measured",null,"a step on the device",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","the rest: idle time of all causes"],
  ["device.compute","not measured",null,"a step",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","computation; note: the kernel with most time"],
  ["device.communication","not measured",null,"a step",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","communication that no computation hides; note: the kernel of communication with most time"],
  ["device.copy","not measured",null,"a step",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","copies that neither hides; note: the copy with most time"],
  ["device.host_late","not measured",null,"a step",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","idle: the call that submitted the next work had not begun, or took long; note: where the host was in most of that time"],
  ["device.sync","not measured",null,"a step",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","idle because calls waited for the device; symbol: the call with most; note: the operator around it"],
  ["device.first","not measured",null,"a step",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","idle: the host was in a first call, which loaded code or set up the device; note: where the host was in most of that time"],
  ["device.wait","not measured",null,"a step",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","idle: a stream waits for an event of another one"],
  ["device.latency","not measured",null,"a step",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","idle: the next work was submitted and began as soon as a launch allows"],
  ["device.queued","not measured",null,"a step",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","idle: the next work was submitted and began later than a launch allows; what it waited for is not recorded; note: where the host was in most of that time"],
  ["device.unknown","not measured",null,"a step",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","idle: the call that submitted the next work is not recorded"],
  ["device.start","not measured",null,"a step",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","idle: the device has had no work yet; note: where the host was in most of that time"],
  ["device.nothing","not measured",null,"a step",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","idle: nothing was submitted any more; note: where the host was in most of that time"],
  ["device.late_long","not measured",null,"device.host_late",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","in idle times of more than 1 ms: the host did something else than to submit one operator after the other"],
  ["device.pageable","not measured",null,"copies' time",null,null,null,"ratio",null,"the trace has no events of a device","the trace has no events of a device","copies from or to memory of the host that is not pinned"]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":["110 of 205 facts are not measured; each says why."]}
]}

$ trace reduced && dwell report reduced.dwell --view facts --name '*.operators' --format csv | cat -E
fact,shown,interval,denominator,value,low,high,unit,samples,evidence,missing,meaning^M$
loop.operators,2.2%,,the loop,0.0215311005,0.0215311005,0.0215311005,ratio,1,item,,operators outside the steps and outside the parts above^M$
step.operators,0.0%,,a steady step,0,0,0,ratio,2,,,operators in none of these parts^M$

$ dwell report reduced.dwell --view facts --name '*.profiler' --format csv | cat -E
fact,shown,interval,denominator,value,low,high,unit,samples,evidence,missing,meaning^M$
run.profiler,1.9%,,the loop,0.019138756,0.019138756,0.019138756,ratio,2,,,"estimated cost of recording: of all ranges, and the recorder's own work"^M$
loop.profiler,0.0%,,the loop,0,0,0,ratio,0,,,the recorder's own work outside the steps^M$
step.profiler,0.0%,,a steady step,0,0,0,ratio,2,,,the recorder's own work; with the next sixteen it makes up a step^M$
