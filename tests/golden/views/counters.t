$ trace values && dwell report values.dwell --view counters --format json
{"dwell":1,"views":[
{"view":"counters","traces":["values.dwell"],"scope":{},
 "columns":[
  {"name":"row","label":"counter","unit":"","type":"text"},
  {"name":"counter","label":"counter","unit":"","type":"text"},
  {"name":"unit","label":"unit","unit":"","type":"text"},
  {"name":"samples","label":"samples","unit":"count","type":"int"},
  {"name":"first","label":"first","unit":"","type":"real"},
  {"name":"last","label":"last","unit":"","type":"real"},
  {"name":"mean","label":"mean","unit":"","type":"real"},
  {"name":"min","label":"min","unit":"","type":"real"},
  {"name":"max","label":"max","unit":"","type":"real"},
  {"name":"nan","label":"not a number","unit":"count","type":"int"}],
 "rows":[
  ["loss","loss",null,3,4,1,2.33333333,1,4,1],
  ["step 0","loss",null,1,4,4,4,4,4,null],
  ["step 1","loss",null,1,2,2,2,2,2,null],
  ["step 2","loss",null,1,1,1,1,1,1,null],
  ["step 3","loss",null,0,null,null,null,null,null,1],
  ["rate","rate","1/step",2,0.1,0.01,0.055,0.01,0.1,null],
  ["step 0","rate",null,1,0.1,0.1,0.1,0.1,0.1,null],
  ["step 2","rate",null,1,0.01,0.01,0.01,0.01,0.01,null]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ dwell report values.dwell --view counters --steps 1..2
Only steps 1..2.

counter   unit    samples  first  last  mean   min   max
loss                    2      2     1   1.5     1     2
  step 1                1      2     2     2     2     2
  step 2                1      1     1     1     1     1
rate      1/step        1   0.01  0.01  0.01  0.01  0.01
  step 2                1   0.01  0.01  0.01  0.01  0.01
