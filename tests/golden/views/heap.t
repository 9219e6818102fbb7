$ trace heap && dwell report heap.dwell --view heap --format json
{"dwell":1,"views":[
{"view":"heap","traces":["heap.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"allocated by","unit":"","type":"text"},
  {"name":"place","label":"line","unit":"","type":"text"},
  {"name":"caller","label":"called by","unit":"","type":"text"},
  {"name":"peak_bytes","label":"at the peak","unit":"bytes","type":"int"},
  {"name":"peak_error_bytes","label":"+-","unit":"bytes","type":"int"},
  {"name":"live_bytes","label":"at the end","unit":"bytes","type":"int"},
  {"name":"live_error_bytes","label":"+-","unit":"bytes","type":"int"},
  {"name":"growth_bytes","label":"growth a step","unit":"bytes","type":"real"},
  {"name":"growth_error_bytes","label":"+-","unit":"bytes","type":"real"},
  {"name":"allocated_bytes","label":"allocated","unit":"bytes","type":"int"},
  {"name":"samples","label":"samples","unit":"count","type":"int"},
  {"name":"file","label":"file","unit":"","type":"text"},
  {"name":"line","label":"line number","unit":"","type":"int"},
  {"name":"pid","label":"process","unit":"","type":"int"}],
 "rows":[
  ["read_weights","io.c:31","main main.c:12",8388608,0,8388608,0,0,0,8388608,1,"src/io.c",31,400],
  ["leak","net.c:88","forward net.c:40",2113568,726618,2113568,726618,132098,54770.9457,2113568,32,"src/net.c",88,400],
  ["buffer","net.c:21","forward net.c:41",267035,70832,0,0,0,0,4272560,16,"src/net.c",21,400],
  ["cache","cache.c:7","main main.c:13",132098,181654,132098,181654,0,0,132098,2,"src/cache.c",7,400],
  ["cache","cache.c:7","main main.c:21",0,0,0,0,0,0,1056784,16,"src/cache.c",7,400],
  ["(stack not read)",null,null,0,0,67605,128429,0,0,67605,1,null,null,400]],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["10.4 MiB +- 735 KiB at the peak, 10.2 MiB +- 742 KiB at the end.","Grows by 129 KiB +- 53.5 KiB a step: leak at net.c:88."],
 "notes":["Bytes that the program asked for, estimated from samples; +- is half of the 95% interval."]}
]}

$ dwell report heap.dwell --view heap --steps 0..3
Only steps 0..3.
8.88 MiB +- 403 KiB at the peak, 8.69 MiB +- 416 KiB at the end.

allocated by  line       called by         at the peak       +-  at the end      +-  growth a step  +-  allocated  samples
read_weights  io.c:31    main main.c:12        8.00MiB        0     8.00MiB       0                             0        0
leak          net.c:88   forward net.c:40       516KiB   355KiB      516KiB  355KiB                        516KiB        8
buffer        net.c:21   forward net.c:41       261KiB  69.2KiB           0       0                       1.02MiB        4
cache         cache.c:7  main main.c:13         129KiB   177KiB      129KiB  177KiB                             0        0
cache         cache.c:7  main main.c:21              0        0     64.5KiB  125KiB                        258KiB        4

Bytes that the program asked for, estimated from samples; +- is half of the 95% interval.

$ dwell report heap.dwell --view heap --group-by thread
10.4 MiB +- 735 KiB at the peak, 10.2 MiB +- 742 KiB at the end.
Grows by 129 KiB +- 53.5 KiB a step: leak at net.c:88.

allocated by  line  called by  at the peak      +-  at the end      +-  growth a step       +-  allocated  samples
engine                             10.4MiB  735KiB     10.2MiB  742KiB         129KiB  53.5KiB    15.3MiB       68

Bytes that the program asked for, estimated from samples; +- is half of the 95% interval.

$ dwell report heap.dwell --view heap --group-by line
2> dwell: the view heap has no group 'line': it has thread
[2]
