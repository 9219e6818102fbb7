$ trace heap && dwell report heap.dwell --view verdict
SLOW   10% of the loop lies between the steps, in no range.
TRY    do what not every step needs once, every n-th step, or in another thread: at most 938 us a step, 10%
LOOK   dwell report --view tree
RISK   Memory grows by 129 KiB with each step on cpu (malloc), most of it made by leak at net.c:88.
TRY    dwell report --view memory shows what is left at the end
WORK   45% of the loop lies in no named range.
TRY    DWELL_ZONE("name") around its parts shows which

rule           share   from     to  of           saves at most
between-steps  10.5%  10.5%  10.5%  of the loop          938us
memory-growth  13.3%  13.3%  13.3%  of the peak
nameless       44.8%  44.8%  44.8%  of the loop

$ trace hang && dwell report hang.dwell --view verdict
SLOW   Communication takes 9% of the loop.
TRY    larger batches, or sums over several steps, save transfers: at most 1.0 ms a step, 9%
LOOK   dwell report --view steps shows what each rank does

rule           share  from    to  of           saves at most
communication   9.1%  9.1%  9.1%  of the loop         1.00ms
