$ trace memory_failure && dwell report memory_failure.dwell | head -8
engine: 13.0 ms, 5 ranges. No steps are marked.
RISK   Memory ran out at 7.00 ms, in linear of layer decoder: no 4.77 MiB were
       to be had on cpu; of the 9.54 MiB of addresses that the process may have
       (RLIMIT_AS), 6.68 MiB were in use. The program went on.
       Recorded blocks of cpu held 4.29 MiB then: activation 3.81 MiB, parameter
       488 KiB; most is of conv2d 2.86 MiB, and of layer encoder 2.86 MiB.
LOOK   dwell report --view memory

$ dwell report memory_failure.dwell --view memory
RISK   Memory ran out at 7.00 ms, in linear of layer decoder: no 4.77 MiB were to be had on cpu; of the 9.54 MiB of addresses that the process may have (RLIMIT_AS), 6.68 MiB were in use. The program went on.
       Recorded blocks of cpu held 4.29 MiB then: activation 3.81 MiB, parameter 488 KiB; most is of conv2d 2.86 MiB, and of layer encoder 2.86 MiB.
LOOK   dwell report --view memory
Peak 4.29 MiB at 6.00 ms: activation 3.81 MiB, parameter 488 KiB.
At the end 3.34 MiB in 3 allocations are not freed.

  category        at the peak  of the peak  at the end  allocated  allocations    freed  frees
  parameter            488KiB        11.1%      488KiB     488KiB            1        0      0
  activation          3.81MiB        88.9%     2.86MiB    5.72MiB            3  2.86MiB      1
  all categories      4.29MiB       100.0%     3.34MiB    6.20MiB            4  2.86MiB      1

  device  by        held when memory ran out    bytes  of the held
  cpu     category  activation                3.81MiB        88.9%
  cpu     operator  conv2d                    2.86MiB        66.7%
  cpu     layer     encoder                   2.86MiB        66.7%
  cpu     operator  linear                    1.43MiB        33.3%
  cpu     layer     decoder                   1.43MiB        33.3%
  cpu     category  parameter                  488KiB        11.1%

  allocated by  at the peak  of the peak
  conv2d            2.86MiB        66.7%
  linear            1.43MiB        33.3%

  allocator  allocations     self    total  allocations, total    freed  at the end  live
  conv2d               1  2.86MiB  2.86MiB                   1  2.86MiB           0     0
  more                 1  1.91MiB  1.91MiB                   1        0     1.91MiB     1
  linear               2  1.43MiB  1.43MiB                   2        0     1.43MiB     2

$ dwell report memory_failure.dwell --view memory --format csv
category,peak_bytes,share,live_bytes,allocated_bytes,allocations,freed_bytes,frees
parameter,500000,0.111111111,500000,500000,1,0,0
activation,4000000,0.888888889,3000000,6000000,3,3000000,1

device,by,name,bytes,share
cpu,category,activation,4000000,0.888888889
cpu,operator,conv2d,3000000,0.666666667
cpu,layer,encoder,3000000,0.666666667
cpu,operator,linear,1500000,0.333333333
cpu,layer,decoder,1500000,0.333333333
cpu,category,parameter,500000,0.111111111

holder,peak_bytes,share
conv2d,3000000,0.666666667
linear,1500000,0.333333333

name,allocations,self_bytes,total_bytes,total_allocations,freed_bytes,live_bytes,live_allocations
conv2d,1,3000000,3000000,1,3000000,0,0
more,1,2000000,2000000,1,0,2000000,1
linear,2,1500000,1500000,2,0,1500000,2

device,time_ns,parameter,gradient,activation,input,optimizer_state,temporary,other,all
cpu,0,0,0,0,0,0,0,0,0
cpu,1978128,0,0,0,0,0,0,0,0
cpu,2000000,0,0,3000000,0,0,0,0,3000000
cpu,5986440,0,0,3000000,0,0,0,0,3000000
cpu,6000000,500000,0,4000000,0,0,0,0,4500000
cpu,9994752,500000,0,4000000,0,0,0,0,4500000
cpu,10007766,500000,0,1000000,0,0,0,0,1500000
cpu,11985894,500000,0,1000000,0,0,0,0,1500000
cpu,12000000,500000,0,3000000,0,0,0,0,3500000
cpu,12987972,500000,0,3000000,0,0,0,0,3500000
