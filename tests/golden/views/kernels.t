$ trace device && dwell report device.dwell --view kernels --format json
{"dwell":1,"views":[
{"view":"kernels","part":"families","traces":["device.dwell"],"scope":{},
 "columns":[
  {"name":"family","label":"family","unit":"","type":"text"},
  {"name":"calls","label":"events","unit":"count","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"share","label":"share","unit":"ratio","type":"real","sums":"total_ns","whole":200000}],
 "rows":[
  ["matmul",3,90000,0.45],
  ["communication",1,80000,0.4],
  ["copy",2,12000,0.06],
  ["elementwise",2,11000,0.055],
  ["other",1,5000,0.025],
  ["memory set",1,2000,0.01]],
 "totals":{"calls":10,"total_ns":200000},
 "coverage":1,"losses":[],
 "notes":["2 events: the call that submitted them is not in the trace.","Times of devices and of the host may differ by 500 ns."]},
{"view":"kernels","part":"names","traces":["device.dwell"],"scope":{},
 "columns":[
  {"name":"short_name","label":"name","unit":"","type":"text"},
  {"name":"name","label":"full name","unit":"","type":"text"},
  {"name":"family","label":"family","unit":"","type":"text"},
  {"name":"class","label":"class","unit":"","type":"text"},
  {"name":"calls","label":"events","unit":"count","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"share","label":"share","unit":"ratio","type":"real","sums":"total_ns","whole":200000},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"real"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"deviation_ns","label":"deviation","unit":"ns","type":"real"},
  {"name":"bytes","label":"bytes","unit":"bytes","type":"int"},
  {"name":"bytes_per_second","label":"a second","unit":"bytes","type":"real"},
  {"name":"operator","label":"most in operator","unit":"","type":"text"}],
 "rows":[
  ["ampere_sgemm_128x64_nn","ampere_sgemm_128x64_nn","matmul","compute",3,90000,0.45,30000,10000,50000,20000,null,null,"autograd::engine::evaluate_function"],
  ["ncclDevKernel_AllReduce_Sum_f32_RING_LL","ncclDevKernel_AllReduce_Sum_f32_RING_LL","communication","communication",1,80000,0.4,80000,80000,80000,0,null,null,"autograd::engine::evaluate_function"],
  ["vectorized_elementwise_kernel<4, AddFunctor>","void at::native::vectorized_elementwise_kernel<4, AddFunctor>","elementwise","compute",2,11000,0.055,5500,5000,6000,707.106781,null,null,"aten::add"],
  ["Memcpy HtoD (Pinned -> Device)","Memcpy HtoD (Pinned -> Device)","copy","copy",1,8000,0.04,8000,8000,8000,0,4096,512000000,"aten::linear"],
  ["graph","graph","other","compute",1,5000,0.025,5000,5000,5000,0,null,null,null],
  ["Memcpy DtoH (Device -> Pageable)","Memcpy DtoH (Device -> Pageable)","copy","copy",1,4000,0.02,4000,4000,4000,0,4,1000000,"aten::item"],
  ["Memset (Device)","Memset (Device)","memory set","copy",1,2000,0.01,2000,2000,2000,0,512,256000000,null]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]},
{"view":"kernels","part":"operators","traces":["device.dwell"],"scope":{},
 "columns":[
  {"name":"operator","label":"operator","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"share","label":"share of all","unit":"ratio","type":"real","sums":"total_ns","whole":200000}],
 "rows":[
  ["autograd::engine::evaluate_function",1,130000,130000,0.65],
  ["aten::mm",1,30000,30000,0.15],
  ["aten::linear",1,18000,18000,0.09],
  ["aten::add",2,11000,11000,0.055],
  ["aten::item",1,4000,4000,0.02]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report device.dwell --view kernels --steps 1
Only step 1.

  family       events   total  share
  matmul            1  30.0us  66.7%
  elementwise       2  11.0us  24.4%
  copy              1  4.00us   8.9%
  all               4  45.0us

2 events: the call that submitted them is not in the trace.
Times of devices and of the host may differ by 500 ns.

  name                                          family       events   total  share    mean     min     max  bytes  a second  most in operator
  ampere_sgemm_128x64_nn                        matmul            1  30.0us  66.7%  30.0us  30.0us  30.0us                   aten::mm
  vectorized_elementwise_kernel<4, AddFunctor>  elementwise       2  11.0us  24.4%  5.50us  5.00us  6.00us                   aten::add
  Memcpy DtoH (Device -> Pageable)              copy              1  4.00us   8.9%  4.00us  4.00us  4.00us     4B    977KiB  aten::item

  operator    calls    self   total  share of all
  aten::mm        1  30.0us  30.0us         66.7%
  aten::add       2  11.0us  11.0us         24.4%
  aten::item      1  4.00us  4.00us          8.9%

$ trace device_nosteps && dwell report device_nosteps.dwell --view kernels
  family  events   total   share
  matmul       1  8.00ms  100.0%
  all          1  8.00ms

1 event: the call that submitted it is not in the trace.

  name                        family  events   total   share    mean     min     max  most in operator
  gemm_fusion_dot_general_11  matmul       1  8.00ms  100.0%  8.00ms  8.00ms  8.00ms
