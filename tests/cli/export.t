# dwell export: the formats, where they go, and that a failed one leaves nothing.
$ trace train && dwell export train.dwell --format folded
train;forward 20000000
train;forward;conv2d 240000000
train;forward;conv2d;im2col 40900000
train;forward;gc: generation 2 40000000
train;forward;relu 20000000
train;backward 40000000
train;backward;conv2d_backward 280000000
train;validate 10000000
train;validate;conv2d 80000000
train;next-batch 80900000
train;optimizer 20000000
train;optimizer;sgd 42700000
train;load model 40000000
train;save weights 12000000
train;write log 2000000
loader;decode 735000000
loader;decode;resize 126000000

$ dwell export train.dwell --format chrome -o train.json && python3 -c 'import json; d = json.load(open("train.json")); print(sorted(d), len(d["traceEvents"]))'
['baseTimeNanoseconds', 'deviceProperties', 'displayTimeUnit', 'dwell', 'dwell.cost_range_ns', 'model', 'profile_memory', 'record_shapes', 'schemaVersion', 'traceEvents', 'traceName', 'with_stack'] 539

$ dwell export --format folded | tail -1
loader;decode;resize 126000000
2> dwell: train.dwell is the newest trace here

$ dwell export train.dwell
2> dwell: no format is given: --format NAME (dwell export --help lists all)
[2]

$ dwell export train.dwell --format chorme
2> dwell: no format 'chorme'; did you mean 'chrome'? There are: chrome, folded, perfetto, speedscope, pprof, xplane, flamegraph, icicle, memory, pstats, sqlite, parquet
[2]

$ dwell export nothing.dwell --format folded
2> dwell: cannot open nothing.dwell: No such file or directory
[1]

$ dwell export train.dwell --format folded -o missing/x
2> dwell: cannot write missing/x: No such file or directory; make the folder first
[1]

$ dwell export train.dwell --format chrome > /dev/full
2> dwell: cannot write standard output: No space left on device; free some space, name a file elsewhere, or end its name in .gz
[1]

$ dwell export train.dwell --format flamegraph --metric tme
2> dwell: no metric 'tme': did you mean 'time'? There are time, samples, waits or self_cpu, and of layers: layers, memory, backward
[2]

$ dwell export train.dwell --format icicle --metric backward
2> dwell: train.dwell has no layers: mark each layer's call with DWELL_LAYER("path")
[1]

$ dwell export train.dwell --format flamegraph --metric self_cpu
2> dwell: train.dwell has no stacks: record with --stacks
[1]

$ dwell export train.dwell --format icicle --metric self_cuda
2> dwell: train.dwell holds no device times to draw 'self_cuda' from; --metric self_cpu is the processor's
[1]

$ dwell export train.dwell --format memory
2> dwell: train.dwell holds no allocations to draw: programs say theirs with DWELL_ALLOC() and DWELL_FREE()
[1]

$ dwell export train.dwell --format folded --steps 30 --thread train
train;forward 500000
train;forward;gc: generation 2 40000000
train;forward;conv2d 6000000
train;forward;conv2d;im2col 1000000
train;forward;relu 500000
train;backward 1000000
train;backward;conv2d_backward 7000000
train;next-batch 2000000
train;optimizer 500000
train;optimizer;sgd 1000000

$ dwell export train.dwell --format folded | head -1
train;forward 20000000

$ ls
train.dwell
train.json

# Call stacks as PyTorch's export_stacks() writes them.
$ trace profiles && dwell export profiles.dwell --format folded --metric self_cpu_time_total
main.c(30):_main;net.c(20):_forward;ops.c(10):_matmul 18000

$ dwell export profiles.dwell --format folded --metric self_cuda_time_total
2> dwell: profiles.dwell has no device time: none is recorded; use --metric self_cpu_time_total
[1]

$ dwell export train.dwell --format folded --metric self_cpu_time_total
2> dwell: train.dwell has no stacks: record with dwell run --stacks
[1]

$ dwell export train.dwell --format folded --metric self_cpu_time
2> dwell: no metric 'self_cpu_time': did you mean 'self_cpu_time_total'? there are: time, self_cpu_time_total, self_cuda_time_total
[2]

$ dwell export train.dwell --format pprof -o train.pb && dwell export train.dwell --format perfetto -o train.pftrace && ls
profiles.dwell
train.dwell
train.json
train.pb
train.pftrace

$ dwell export train.dwell --format chrome --metric self_cpu_time_total
2> dwell: chrome takes no metric; metrics are for folded, speedscope, pprof, flamegraph, icicle
[2]

$ trace lightning && dwell export lightning.dwell --format pstats -o calls.pstats && python3 -c 'import pstats; [print(f, v[:2], sorted((c, n[:2]) for c, n in v[4].items())) for f, v in sorted(pstats.Stats("calls.pstats").stats.items())]'
('fib.c', 2, 'fib') (2, 4) [(('fib.c', 2, 'fib'), (2, 1)), (('net.c', 6, 'work'), (2, 2))]
('net.c', 6, 'work') (2, 2) []
('~', 0, 'malloc') (1, 1) [(('net.c', 6, 'work'), (1, 1))]

$ dwell export lightning.dwell --format pstats --action inner -o - | python3 -c 'import marshal, sys; print(marshal.loads(sys.stdin.buffer.read()))'
{('fib.c', 2, 'fib'): (2, 4, 0.007, 0.007, {('fib.c', 2, 'fib'): (2, 1, 0.003, 0.003)})}

$ dwell export train.dwell --format pstats -o none.pstats; ls none.pstats
2> dwell: train.dwell has no function calls here: record with --functions a program that carries the functions probe
2> ls: cannot access 'none.pstats': No such file or directory
[2]

$ dwell export train.dwell --format speedscop
2> dwell: no format 'speedscop'; did you mean 'speedscope'? There are: chrome, folded, perfetto, speedscope, pprof, xplane, flamegraph, icicle, memory, pstats, sqlite, parquet
[2]

# Files have the mode that the umask gives.
$ umask 027 && dwell export train.dwell --format folded -o mode.txt && dwell report train.dwell -o mode2.txt && stat -c %a mode.txt mode2.txt
640
640

$ umask 022 && dwell export train.dwell --format chrome -o mode.json && stat -c %a mode.json
644
