$ trace values && dwell report values.dwell --view marks --format json
{"dwell":1,"views":[
{"view":"marks","traces":["values.dwell"],"scope":{},
 "columns":[
  {"name":"mark","label":"mark","unit":"","type":"text"},
  {"name":"count","label":"count","unit":"count","type":"int"},
  {"name":"per_step","label":"per step","unit":"count","type":"real"},
  {"name":"first_ns","label":"first","unit":"ns","type":"int"},
  {"name":"last_ns","label":"last","unit":"ns","type":"int"},
  {"name":"apart_ns","label":"apart","unit":"ns","type":"real"},
  {"name":"threads","label":"threads","unit":"count","type":"int"}],
 "rows":[
  ["improved",2,0.5,2000000,22000000,20000000,1],
  ["ready",1,0.25,10000000,10000000,null,1]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report values.dwell --view marks --steps 1
Only step 1.

mark   count  per step   first    last  apart  threads
ready      1         1  10.0ms  10.0ms               1
