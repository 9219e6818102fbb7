$ trace device && dwell report device.dwell --view streams --format json
{"dwell":1,"views":[
{"view":"streams","part":"streams","traces":["device.dwell"],"scope":{},
 "columns":[
  {"name":"device","label":"device","unit":"","type":"text"},
  {"name":"stream","label":"stream","unit":"","type":"text"},
  {"name":"events","label":"events","unit":"count","type":"int"},
  {"name":"busy_ns","label":"busy","unit":"ns","type":"int"},
  {"name":"busy_share","label":"busy share","unit":"ratio","type":"real","of":"the stream's time"},
  {"name":"overlap_ns","label":"with others","unit":"ns","type":"int"},
  {"name":"late_ns","label":"host late","unit":"ns","type":"int"},
  {"name":"short_ns","label":"short gaps","unit":"ns","type":"int"},
  {"name":"waiting_ns","label":"waiting","unit":"ns","type":"int"},
  {"name":"late_gaps","label":"late gaps","unit":"count","type":"int"},
  {"name":"short_gaps","label":"short gaps","unit":"count","type":"int"},
  {"name":"waiting_gaps","label":"waiting gaps","unit":"count","type":"int"},
  {"name":"depth","label":"mean depth","unit":"","type":"real"},
  {"name":"depth_max","label":"most","unit":"count","type":"int"},
  {"name":"depth_points","label":"points","unit":"count","type":"int"},
  {"name":"depth_point_mean","label":"mean of points","unit":"","type":"real"},
  {"name":"depth_point_deviation","label":"deviation of points","unit":"","type":"real"},
  {"name":"depth_min","label":"least","unit":"count","type":"int"},
  {"name":"depth_p25","label":"p25","unit":"","type":"real"},
  {"name":"depth_p50","label":"p50","unit":"","type":"real"},
  {"name":"depth_p75","label":"p75","unit":"","type":"real"}],
 "rows":[
  ["NVIDIA A100 0","7",8,112000,0.380952381,3000,76000,7000,99000,4,2,1,0.221843003,1,12,0.5,0.522232968,0,0,0.5,1],
  ["NVIDIA A100 0","20",2,88000,0.590604027,3000,0,0,61000,0,0,1,0.905405405,1,4,0.5,0.577350269,0,0,0.5,1]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":["2 events: the call that submitted them is not in the trace.","Times of devices and of the host may differ by 500 ns."]},
{"view":"streams","part":"launches","traces":["device.dwell"],"scope":{},
 "columns":[
  {"name":"call","label":"call","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"events","label":"events","unit":"count","type":"int"},
  {"name":"call_ns","label":"in the call","unit":"ns","type":"int"},
  {"name":"call_mean_ns","label":"mean","unit":"ns","type":"real"},
  {"name":"call_p50_ns","label":"p50","unit":"ns","type":"real"},
  {"name":"call_max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"device_ns","label":"device","unit":"ns","type":"int"},
  {"name":"device_p50_ns","label":"device p50","unit":"ns","type":"real"},
  {"name":"device_max_ns","label":"device max","unit":"ns","type":"int"},
  {"name":"delay_ns","label":"delay sum","unit":"ns","type":"int"},
  {"name":"delay_mean_ns","label":"delay","unit":"ns","type":"real"},
  {"name":"delay_p50_ns","label":"delay p50","unit":"ns","type":"real"},
  {"name":"delay_max_ns","label":"delay max","unit":"ns","type":"int"},
  {"name":"longer_than_device","label":"longer than its work","unit":"count","type":"int"},
  {"name":"slow_calls","label":"calls over 50 us","unit":"count","type":"int"},
  {"name":"late_starts","label":"delays over 100 us","unit":"count","type":"int"}],
 "rows":[
  ["cudaLaunchKernel",5,6,22000,3666.66667,4000,4000,181000,20000,80000,74000,12333.3333,4000,58000,0,0,0],
  ["cudaMemcpyAsync",2,2,7000,3500,3500,4000,12000,6000,8000,29000,14500,14500,28000,0,0,0]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report device.dwell --view streams --steps 1
Only step 1.

  stream  events    busy  busy share  with others  host late  short gaps  waiting  mean depth  most
  7            4  45.0us       48.9%            0     45.0us      2.00us        0       0.558     1

2 events: the call that submitted them is not in the trace.
Times of devices and of the host may differ by 500 ns.

  call              calls  events  in the call    mean     p50     max  device   delay  delay p50  delay max  longer than its work
  cudaLaunchKernel      3       3       10.0us  3.33us  3.00us  4.00us  41.0us  4.00us     4.00us     4.00us                     0
  cudaMemcpyAsync       1       1       3.00us  3.00us  3.00us  3.00us  4.00us  28.0us     28.0us     28.0us                     0
