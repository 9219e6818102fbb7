$ trace lightning && dwell report lightning.dwell --layout pstats
FIT Profiler Report
Profile stats for: outer
         5 function calls (3 primitive calls) in 0.028 seconds

   Ordered by: cumulative time

   ncalls  tottime  percall  cumtime  percall filename:lineno(function)
        1    0.021    0.021    0.028    0.028 net.c:6(work)
      4/2    0.007    0.002    0.007    0.004 fib.c:2(fib)



Profile stats for: inner
         4 function calls (2 primitive calls) in 0.007 seconds

   Ordered by: cumulative time

   ncalls  tottime  percall  cumtime  percall filename:lineno(function)
      4/2    0.007    0.002    0.007    0.004 fib.c:2(fib)



TEST Profiler Report
Profile stats for: outer
         0 function calls in 0.000 seconds


Profile stats for: [LightningModule]Net.test_step
         2 function calls in 0.003 seconds

   Ordered by: cumulative time

   ncalls  tottime  percall  cumtime  percall filename:lineno(function)
        1    0.002    0.002    0.003    0.003 net.c:6(work)
        1    0.001    0.001    0.001    0.001 malloc



Profile stats for: Überprüfung
         0 function calls in 0.000 seconds


PREDICT Profiler Report

$ dwell report lightning.dwell --layout pstats:0.5 --action outer --sort calls
FIT Profiler Report
Profile stats for: outer
         5 function calls (3 primitive calls) in 0.028 seconds

   Ordered by: call count
   List reduced from 2 to 1 due to restriction <0.5>

   ncalls  tottime  percall  cumtime  percall filename:lineno(function)
      4/2    0.007    0.002    0.007    0.004 fib.c:2(fib)



TEST Profiler Report
Profile stats for: outer
         0 function calls in 0.000 seconds


PREDICT Profiler Report

$ dwell report lightning.dwell --layout pstats:half
2> dwell: no layout 'pstats:half'; pstats:0.1 prints the first tenth of the lines
[2]

$ dwell report lightning.dwell --layout pstats --sort cumulatif
2> dwell: pstats is not sorted by 'cumulatif'; did you mean 'cumulative'? (there are cumulative, time, calls, pcalls, name, filename and line)
[2]
