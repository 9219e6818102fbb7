$ trace flops && dwell report flops.dwell --view flops --format json
{"dwell":1,"views":[
{"view":"flops","traces":["flops.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"operator","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"flops","label":"FLOP","unit":"count","type":"int"},
  {"name":"gflop","label":"GFLOP","unit":"","type":"real"},
  {"name":"share","label":"of FLOPs","unit":"ratio","type":"real","sums":"flops","whole":24059596},
  {"name":"total_ns","label":"time","unit":"ns","type":"int"},
  {"name":"gflop_per_second","label":"GFLOP/s","unit":"","type":"real"},
  {"name":"of_peak","label":"of the peak","unit":"ratio","type":"real","of":"the peak"}],
 "rows":[
  ["aten::linear",2,24000000,0.024,0.997522984,8000000,3,0.25],
  ["convolution",2,55296,5.5296e-05,0.00229829296,2000000,0.027648,0.002304],
  ["aten::mm",2,4000,4e-06,0.000166253831,2000000,0.002,0.000166666667],
  ["relu",3,300,3e-07,1.24690373e-05,1200000,0.00025,2.08333333e-05],
  ["aten::view",2,0,0,0,200000,0,0]],
 "totals":{"calls":11,"flops":24059596,"gflop":0.024059596,"share":1,"total_ns":13400000,"gflop_per_second":1.79549224,"of_peak":0.149624353},
 "coverage":1,"losses":[],
 "heads":["FLOPs are counted for 78.8% of all operators' time: 24.1 MFLOP in 13.4 ms; not counted: MyFunction (no formula), max_pool (arguments do not say), aten::mm (shapes not recorded).","A step is at least 12 MFLOP in 10.0 ms: at least 1.2 GFLOP/s, 10.0% of the machine's measured peak."],
 "notes":[]},
{"view":"flops","part":"uncounted","traces":["flops.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"not counted","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"share","label":"of operators","unit":"ratio","type":"real","sums":"self_ns","whole":17000000},
  {"name":"why","label":"why","unit":"","type":"text"}],
 "rows":[
  ["MyFunction",2,2000000,0.117647059,"no formula"],
  ["max_pool",2,1000000,0.0588235294,"arguments do not say"],
  ["aten::mm",2,600000,0.0352941176,"shapes not recorded"]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":["Shapes were not recorded: dwell run --shapes records those that operators are given with DWELL_OP_SHAPES().","Arguments do not say: give what the operator writes after what it reads, or strides and windows as DWELL_ARG_INTS."]}
]}
