$ trace memory && dwell report memory.dwell --view memory --format json
{"dwell":1,"views":[
{"view":"memory","part":"categories","traces":["memory.dwell"],"scope":{},
 "columns":[
  {"name":"category","label":"category","unit":"","type":"text"},
  {"name":"peak_bytes","label":"at the peak","unit":"bytes","type":"int"},
  {"name":"share","label":"of the peak","unit":"ratio","type":"real","sums":"peak_bytes","whole":1507328},
  {"name":"live_bytes","label":"at the end","unit":"bytes","type":"int"},
  {"name":"allocated_bytes","label":"allocated","unit":"bytes","type":"int"},
  {"name":"allocations","label":"allocations","unit":"count","type":"int"},
  {"name":"freed_bytes","label":"freed","unit":"bytes","type":"int"},
  {"name":"frees","label":"frees","unit":"count","type":"int"}],
 "rows":[
  ["parameter",409600,0.27173913,409600,409600,1,0,0],
  ["gradient",409600,0.27173913,409600,409600,1,0,0],
  ["activation",204800,0.135869565,0,307200,4,204800,3],
  ["input",65536,0.0434782609,0,131072,2,131072,2],
  ["optimizer state",409600,0.27173913,409600,409600,1,0,0],
  ["temporary",0,0,1024,1024,1,0,0],
  ["other",8192,0.00543478261,0,8192,1,8192,1]],
 "totals":{"peak_bytes":1507328,"share":1,"live_bytes":1229824,"allocated_bytes":1676288,"allocations":11,"freed_bytes":344064,"frees":6},
 "coverage":1,"losses":[],
 "heads":["Peak 1.44 MiB at 36.0 ms, in step 1: parameter 400 KiB, gradient 400 KiB, optimizer state 400 KiB, activation 200 KiB.","At the end 1.17 MiB in 4 allocations are not freed."],
 "notes":[]},
{"view":"memory","part":"peak","traces":["memory.dwell"],"scope":{},
 "columns":[
  {"name":"holder","label":"allocated by","unit":"","type":"text"},
  {"name":"peak_bytes","label":"at the peak","unit":"bytes","type":"int"},
  {"name":"share","label":"of the peak","unit":"ratio","type":"real","sums":"peak_bytes","whole":1507328}],
 "rows":[
  ["build model",819200,0.543478261],
  ["(no operator)",409600,0.27173913],
  ["addmm",110592,0.0733695652],
  ["linear",102400,0.0679347826],
  ["load batch",65536,0.0434782609]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]},
{"view":"memory","part":"allocators","traces":["memory.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"allocator","unit":"","type":"text"},
  {"name":"allocations","label":"allocations","unit":"count","type":"int"},
  {"name":"self_bytes","label":"self","unit":"bytes","type":"int"},
  {"name":"total_bytes","label":"total","unit":"bytes","type":"int"},
  {"name":"total_allocations","label":"allocations, total","unit":"count","type":"int"},
  {"name":"freed_bytes","label":"freed","unit":"bytes","type":"int"},
  {"name":"live_bytes","label":"at the end","unit":"bytes","type":"int"},
  {"name":"live_allocations","label":"live","unit":"count","type":"int"}],
 "rows":[
  ["build model",2,819200,819200,2,0,819200,2],
  ["(no operator)",2,410624,410624,2,0,410624,2],
  ["addmm",3,161792,161792,3,59392,0,0],
  ["linear",2,153600,315392,5,153600,0,0],
  ["load batch",2,131072,131072,2,131072,0,0],
  ["forward",0,0,315392,5,0,0,0]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":["1 free not counted: no allocation of that memory was recorded (it came before the recording, or was lost).","1 allocation at an address that was still live: its free is missing, and taken to be there."]},
{"view":"memory","part":"timeline","traces":["memory.dwell"],"scope":{},
 "columns":[
  {"name":"device","label":"device","unit":"","type":"text"},
  {"name":"time_ns","label":"time","unit":"ns","type":"int"},
  {"name":"parameter","label":"parameter","unit":"bytes","type":"int"},
  {"name":"gradient","label":"gradient","unit":"bytes","type":"int"},
  {"name":"activation","label":"activation","unit":"bytes","type":"int"},
  {"name":"input","label":"input","unit":"bytes","type":"int"},
  {"name":"optimizer_state","label":"optimizer state","unit":"bytes","type":"int"},
  {"name":"temporary","label":"temporary","unit":"bytes","type":"int"},
  {"name":"other","label":"other","unit":"bytes","type":"int"},
  {"name":"all","label":"all","unit":"bytes","type":"int"}],
 "rows":[
  ["cpu",0,0,0,0,0,0,0,0,0],
  ["cpu",1928974,0,0,0,0,0,0,0,0],
  ["cpu",2000000,409600,409600,0,0,0,0,0,819200],
  ["cpu",3940032,409600,409600,0,0,0,0,0,819200],
  ["cpu",4000000,409600,409600,0,0,409600,0,0,1228800],
  ["cpu",4925040,409600,409600,0,0,409600,0,0,1228800],
  ["cpu",5000000,409600,409600,0,65536,409600,0,0,1294336],
  ["cpu",10958214,409600,409600,0,65536,409600,0,0,1294336],
  ["cpu",11000000,409600,409600,51200,65536,409600,0,0,1345536],
  ["cpu",11943222,409600,409600,51200,65536,409600,0,0,1345536],
  ["cpu",12000000,409600,409600,102400,65536,409600,0,0,1396736],
  ["cpu",12969272,409600,409600,102400,65536,409600,0,0,1396736],
  ["cpu",13010314,409600,409600,102400,0,409600,0,0,1331200],
  ["cpu",15965338,409600,409600,102400,0,409600,0,0,1331200],
  ["cpu",16006380,409600,409600,0,0,409600,0,0,1228800],
  ["cpu",24953536,409600,409600,0,0,409600,0,0,1228800],
  ["cpu",25000000,409600,409600,0,65536,409600,0,0,1294336],
  ["cpu",30945668,409600,409600,0,65536,409600,0,0,1294336],
  ["cpu",31000000,409600,409600,102400,65536,409600,0,0,1396736],
  ["cpu",32956726,409600,409600,102400,65536,409600,0,0,1396736],
  ["cpu",33000000,409600,409600,204800,65536,409600,0,0,1499136],
  ["cpu",35952792,409600,409600,204800,65536,409600,0,0,1499136],
  ["cpu",36000000,409600,409600,204800,65536,409600,0,8192,1507328],
  ["cpu",36978842,409600,409600,204800,65536,409600,0,8192,1507328],
  ["cpu",37019884,409600,409600,204800,65536,409600,0,0,1499136],
  ["cpu",37963850,409600,409600,204800,65536,409600,0,0,1499136],
  ["cpu",38004892,409600,409600,102400,0,409600,0,0,1331200],
  ["cpu",40959916,409600,409600,102400,0,409600,0,0,1331200]],
 "totals":{"time_ns":36000000,"parameter":409600,"gradient":409600,"activation":204800,"input":65536,"optimizer_state":409600,"temporary":0,"other":8192,"all":1507328},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report memory.dwell --view memory --steps 0
Only step 0.
Peak 1.33 MiB at 12.0 ms, in step 0: parameter 400 KiB, gradient 400 KiB, optimizer state 400 KiB, activation 100 KiB.
At the end 1.17 MiB in 3 allocations are not freed.

  category         at the peak  of the peak  at the end  allocated  allocations    freed  frees
  parameter             400KiB        29.3%      400KiB          0            0        0      0
  gradient              400KiB        29.3%      400KiB          0            0        0      0
  activation            100KiB         7.3%           0     100KiB            2   100KiB      2
  input                64.0KiB         4.7%           0          0            0  64.0KiB      1
  optimizer state       400KiB        29.3%      400KiB          0            0        0      0
  all categories       1.33MiB       100.0%     1.17MiB     100KiB            2   164KiB      3

  allocated by   at the peak  of the peak
  build model         800KiB        58.7%
  (no operator)       400KiB        29.3%
  load batch         64.0KiB         4.7%
  linear             50.0KiB         3.7%
  addmm              50.0KiB         3.7%

  allocator  allocations     self    total  allocations, total    freed  at the end  live
  linear               1  50.0KiB   100KiB                   2  50.0KiB           0     0
  addmm                1  50.0KiB  50.0KiB                   1  50.0KiB           0     0
  forward              0        0   100KiB                   2        0           0     0

$ trace heap && dwell report heap.dwell --view memory
Peak 10.4 MiB at 143 ms, in step 15 (+- 735 KiB, estimated from samples: --view heap).
At the end 10.2 MiB in 2,228 allocations are not freed.

  category        at the peak  of the peak  at the end  allocated  allocations    freed  frees
  other               10.4MiB       100.0%     10.2MiB    15.3MiB        3,284  5.08MiB  1,056
  all categories      10.4MiB       100.0%     10.2MiB    15.3MiB        3,284  5.08MiB  1,056

  allocated by   at the peak  of the peak
  (no operator)      9.13MiB        87.9%
  forward            1.26MiB        12.1%

  allocator      allocations     self    total  allocations, total    freed  at the end   live
  (no operator)        2,228  10.2MiB  10.2MiB               2,228  1.01MiB     9.20MiB  1,188
  forward              1,056  5.08MiB  5.08MiB               1,056  4.07MiB     1.01MiB  1,040

1 free not counted: no allocation of that memory was recorded (it came before the recording, or was lost).
