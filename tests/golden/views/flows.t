$ trace values && dwell report values.dwell --view flows --format json
{"dwell":1,"views":[
{"view":"flows","traces":["values.dwell"],"scope":{},
 "columns":[
  {"name":"flow","label":"flow","unit":"","type":"text"},
  {"name":"out","label":"out","unit":"count","type":"int"},
  {"name":"in","label":"in","unit":"count","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"real"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"other_thread","label":"to another thread","unit":"ratio","type":"real","of":"the flows"},
  {"name":"without_out","label":"in without out","unit":"count","type":"int"}],
 "rows":[
  ["batch",2,3,5500000,5000000,6000000,1,1]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]}
]}
