$ trace loader && dwell report loader.dwell --view gc --format json
{"dwell":1,"views":[
{"view":"gc","traces":["loader.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"collection","unit":"","type":"text"},
  {"name":"calls","label":"pauses","unit":"count","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"share","label":"of wall","unit":"ratio","type":"real","sums":"total_ns","whole":308000000},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"max_ns","label":"longest","unit":"ns","type":"int"},
  {"name":"longest_at_ns","label":"at","unit":"ns","type":"int"},
  {"name":"longest_step","label":"in step","unit":"","type":"int"},
  {"name":"in_steps_ns","label":"in steps","unit":"ns","type":"int"}],
 "rows":[
  ["gc generation 2",4,16000000,0.0519480519,4000000,4000000,4000000,286300000,null,0],
  ["gc generation 0",4,4000000,0.012987013,1000000,1000000,1000000,243300000,12,4000000]],
 "totals":{"calls":8,"total_ns":20000000,"share":0.0649350649},
 "coverage":1,"losses":[],
 "notes":[]}
]}
