$ trace roofline && dwell report roofline.dwell --view roofline
NVIDIA A100-SXM4-80GB: arithmetic and bytes are known for 97.1% of the time of its work.
MFU: products of matrices need 881 us of 3.00 ms a step at the device's peak, 29.4%.

operator     shapes                                                    calls  device  of the device   GFLOP   bytes  FLOP/byte  TFLOP/s  TB/s  of the roof  bound by
aten::addmm  bfloat16[4096], bfloat16[8192,4096], bfloat16[4096,4096]      2  2.40ms          86.3%     550  320MiB      1,638      229  0.14        73.4%  compute
aten::mul    float32[4096,4096], float32[4096,4096]                        2   300us          10.8%  0.0336  384MiB     0.0833    0.112  1.34        65.8%  memory
aten::silu   float32[4096,4096]                                            1  50.0us           1.8%                                                         not known

Peaks in TFLOP/s: products in float16 and bfloat16 312, in float32 156 (TF32 if the device has it), other operators 19.5; memory 2.04 TB/s (NVIDIA A100 Tensor Core GPU Datasheet, without sparsity).
Bytes are the least: each argument is read once, each result written once. What caches hold makes more than 100% of the roof possible.

$ dwell report roofline.dwell --view roofline --format json
{"dwell":1,"views":[
{"view":"roofline","traces":["roofline.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"operator","unit":"","type":"text"},
  {"name":"shapes","label":"shapes","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"device_ns","label":"device","unit":"ns","type":"int"},
  {"name":"share","label":"of the device","unit":"ratio","type":"real","sums":"device_ns","whole":2780000},
  {"name":"gflop","label":"GFLOP","unit":"","type":"real"},
  {"name":"bytes","label":"bytes","unit":"bytes","type":"int"},
  {"name":"intensity","label":"FLOP/byte","unit":"","type":"real"},
  {"name":"tflop_per_second","label":"TFLOP/s","unit":"","type":"real"},
  {"name":"tb_per_second","label":"TB/s","unit":"","type":"real"},
  {"name":"of_roof","label":"of the roof","unit":"ratio","type":"real","of":"the roof"},
  {"name":"bound","label":"bound by","unit":"","type":"text"}],
 "rows":[
  ["aten::addmm","bfloat16[4096], bfloat16[8192,4096], bfloat16[4096,4096]",2,2400000,0.863309353,549.755814,335560704,1638.32,229.064922,0.13981696,0.734182444,"compute"],
  ["aten::mul","float32[4096,4096], float32[4096,4096]",2,300000,0.107913669,0.033554432,402653184,0.0833333333,0.111848107,1.34217728,0.658252712,"memory"],
  ["aten::silu","float32[4096,4096]",1,50000,0.0179856115,null,null,null,null,null,null,"not known"]],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["NVIDIA A100-SXM4-80GB: arithmetic and bytes are known for 97.1% of the time of its work.","MFU: products of matrices need 881 us of 3.00 ms a step at the device's peak, 29.4%."],
 "notes":["Peaks in TFLOP/s: products in float16 and bfloat16 312, in float32 156 (TF32 if the device has it), other operators 19.5; memory 2.04 TB/s (NVIDIA A100 Tensor Core GPU Datasheet, without sparsity).","Bytes are the least: each argument is read once, each result written once. What caches hold makes more than 100% of the roof possible."]}
]}

$ trace device_train && dwell report device_train.dwell --view roofline
NVIDIA A100: arithmetic and bytes are known for 19.0% of the time of its work.

operator      shapes                        calls  device  of the device     GFLOP    bytes  FLOP/byte   TFLOP/s      TB/s
aten::mm                                        3   900us          56.9%
aten::linear  float32[8,16], float32[4,16]      3   300us          19.0%  3.07e-06  2.62KiB       1.14  1.02e-05  8.96e-06
aten::norm                                      3   180us          11.4%
aten::relu                                      3   120us           7.6%

The peaks of NVIDIA A100 are not known to dwell: no roof.

$ trace flops && dwell report flops.dwell --view roofline
2> dwell: flops.dwell has no events of devices: import a trace of a run on GPUs: dwell report FILE reads Kineto's JSON
[1]
