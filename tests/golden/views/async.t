$ trace values && dwell report values.dwell --view async --format json
{"dwell":1,"views":[
{"view":"async","traces":["values.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"asynchronous range","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"real"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"at_once","label":"at once","unit":"count","type":"int"},
  {"name":"open","label":"not ended","unit":"count","type":"int"}],
 "rows":[
  ["request",3,40000000,13333333.3,11000000,13000000,16000000,16000000,2,1]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]}
]}
