$ trace workers && dwell report workers.dwell --view workers
3 workers of pool.py[500] used a CPU for 77% of their time; the busiest one computed for 80.0 ms, 2.0 times the mean: with even work it has 40.0 ms less.

workers        number   lived     CPU   busy  of the mean  waits  most of its CPU in  most of its waits in
python, each        3  51.7ms  40.0ms  77.4%                   0  work (pool.py:5)
  python[502]          85.0ms  80.0ms  94.1%        2.00x      0
  python[503]          25.0ms  20.0ms  80.0%        0.50x      0
  python[504]          45.0ms  20.0ms  44.4%        0.50x      0

$ trace workers && dwell report workers.dwell --view workers --format json
{"dwell":1,"views":[
{"view":"workers","traces":["workers.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"workers","unit":"","type":"text"},
  {"name":"count","label":"number","unit":"count","type":"int"},
  {"name":"lived_ns","label":"lived","unit":"ns","type":"int"},
  {"name":"cpu_ns","label":"CPU","unit":"ns","type":"int"},
  {"name":"busy","label":"busy","unit":"ratio","type":"real","of":"the time that it lived"},
  {"name":"of_mean","label":"of the mean","unit":"times","type":"real"},
  {"name":"waits_ns","label":"waits","unit":"ns","type":"int"},
  {"name":"most","label":"most of its CPU in","unit":"","type":"text"},
  {"name":"wait","label":"most of its waits in","unit":"","type":"text"}],
 "rows":[
  ["python, each",3,51666666,40000000,0.774193548,null,0,"work (pool.py:5)",null],
  ["python[502]",null,85000000,80000000,0.941176471,2,0,null,null],
  ["python[503]",null,25000000,20000000,0.8,0.5,0,null,null],
  ["python[504]",null,45000000,20000000,0.444444444,0.5,0,null,null]],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["3 workers of pool.py[500] used a CPU for 77% of their time; the busiest one computed for 80.0 ms, 2.0 times the mean: with even work it has 40.0 ms less."],
 "notes":[]}
]}

$ trace samples && dwell report samples.dwell --view workers
2> dwell: samples.dwell has no workers: it is for programs of which a process begins two others of one command
[1]
