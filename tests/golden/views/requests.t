$ trace samples && dwell report samples.dwell --view requests
There are no requests: no five threads or tasks of one name ran one after the other.

$ trace samples && dwell report samples.dwell --view requests --format json
{"dwell":1,"views":[
{"view":"requests","traces":["samples.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"threads, tasks","unit":"","type":"text"},
  {"name":"count","label":"count","unit":"count","type":"int"},
  {"name":"at_once","label":"at once","unit":"count","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"share","label":"share","unit":"ratio","type":"real","of":"the requests' time"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p90_ns","label":"p90","unit":"ns","type":"int"},
  {"name":"p95_ns","label":"p95","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"max_ns","label":"longest","unit":"ns","type":"int"},
  {"name":"most","label":"most of it in","unit":"","type":"text"}],
 "rows":[],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["There are no requests: no five threads or tasks of one name ran one after the other."],
 "notes":[]}
]}
