# dwell info: what a trace is and all that is stored in it.
$ trace train && dwell info train.dwell
trace          train.dwell
run            07070707070707070707070707070707
written by     dwell 0.1.0, format 1.0
host           node7
began          2027-01-15 08:00:00 UTC
clock          CLOCK_MONOTONIC, 1000 MHz, good to 0 ns
size           256 KiB
on disk        256 KiB
at most        128 TiB, keeping both ends

1 process
  4711         /srv/train: ./train --lr 0.1

threads        2
streams        2
chunks         2
names          18
texts          24 (dwell info --texts prints them)
steps          40
length         1.02 s
records of     zone phase operator data collector checkpoint evaluation

metadata
  model = resnet18
  dwell.cost_range_ns = 60

$ trace nosteps && dwell info nosteps.dwell
trace          nosteps.dwell
run            08080808080808080808080808080808
written by     dwell 0.1.0, format 1.0
host           node7
began          2026-01-01 00:00:00 UTC
clock          CLOCK_MONOTONIC, 1000 MHz, good to 0 ns
size           256 KiB
on disk        256 KiB
at most        128 TiB, keeping both ends

1 process
  300          /opt/sim: ./sim

threads        2
streams        2
chunks         2
names          6
texts          8 (dwell info --texts prints them)
steps          0
length         154 ms
records of     zone function
lost           1,204,331 records (disk)
lost           1 record (busy)

$ trace ranks && dwell info ranks.dwell
trace          ranks.dwell
run            0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a
written by     dwell 0.1.0, format 1.0
host           node7
began          2026-01-01 00:00:00 UTC
clock          CLOCK_MONOTONIC, 1000 MHz, good to 0 ns
size           384 KiB
on disk        384 KiB
at most        128 TiB, keeping both ends

3 processes
  10           /usr/bin/dwell (dwell run itself): dwell run
  11           /usr/bin/train, rank 0 of 2: 
  12           /usr/bin/train, rank 1 of 2: 

threads        2
streams        2
chunks         2
names          2
texts          8 (dwell info --texts prints them)
steps          10
length         41.0 ms
records of     phase communication

$ dwell info train.dwell --texts | sort -u
./train --lr 0.1
/srv/train
60
backward
conv2d
conv2d_backward
decode
dwell.cost_range_ns
forward
gc: generation 2
im2col
load model
model
next-batch
optimizer
relu
resize
resnet18
save weights
sgd
validate
write log

$ dwell info
trace          ranks.dwell
run            0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a
written by     dwell 0.1.0, format 1.0
host           node7
began          2026-01-01 00:00:00 UTC
clock          CLOCK_MONOTONIC, 1000 MHz, good to 0 ns
size           384 KiB
on disk        384 KiB
at most        128 TiB, keeping both ends

3 processes
  10           /usr/bin/dwell (dwell run itself): dwell run
  11           /usr/bin/train, rank 0 of 2: 
  12           /usr/bin/train, rank 1 of 2: 

threads        2
streams        2
chunks         2
names          2
texts          8 (dwell info --texts prints them)
steps          10
length         41.0 ms
records of     phase communication
2> dwell: ranks.dwell is the newest trace here

$ dwell info nothing.dwell
2> dwell: cannot open nothing.dwell: No such file or directory
[1]
