$ trace heap && dwell report heap.dwell --view verdict
10% of the loop lies between the steps, 10% in no range.
  -> do what is no training once, every n-th step, or in another thread: at most 938 us a step (dwell report --view tree)
Memory grows by 129 KiB with each step on cpu (malloc), most of it made by leak at net.c:88.
  -> dwell report --view memory shows what is left at the end
45% of the loop lies in no named range.
  -> DWELL_ZONE("name") around its parts shows which

rule           share   from     to  of           at most a step
between-steps  10.5%  10.5%  10.5%  of the loop           938us
memory-growth  13.3%  13.3%  13.3%  of the peak
nameless       44.8%  44.8%  44.8%  of the loop
