$ trace lightning && dwell report lightning.dwell --view functions --action innner
2> dwell: no action 'innner' in lightning.dwell; did you mean 'inner'? (dwell report --view actions lists all)
[2]

$ dwell report lightning.dwell --view functions --action outer --format json
{"dwell":1,"views":[
{"view":"functions","traces":["lightning.dwell"],"scope":{"action":"outer"},
 "columns":[
  {"name":"name","label":"function","unit":"","type":"text"},
  {"name":"file","label":"file","unit":"","type":"text"},
  {"name":"line","label":"line","unit":"","type":"int"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"primitive","label":"primitive","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"total/call","unit":"ns","type":"int"},
  {"name":"share","label":"of functions","unit":"ratio","type":"real","sums":"self_ns","whole":28000000}],
 "rows":[
  ["work","net.c",6,1,1,21000000,28000000,28000000,0.75],
  ["fib","fib.c",2,4,2,7000000,7000000,3500000,0.25]],
 "totals":{"calls":5,"primitive":3,"self_ns":28000000},
 "coverage":1,"losses":[],
 "notes":[]}
]}
