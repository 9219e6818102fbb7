$ trace loader && dwell report loader.dwell --view dataloader --format json
{"dwell":1,"views":[
{"view":"dataloader","traces":["loader.dwell"],"scope":{},
 "columns":[
  {"name":"thread","label":"thread","unit":"","type":"text"},
  {"name":"role","label":"role","unit":"","type":"text"},
  {"name":"name","label":"range","unit":"","type":"text"},
  {"name":"calls","label":"batches","unit":"count","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"samples","label":"samples","unit":"count","type":"int"},
  {"name":"sample_ns","label":"a sample","unit":"ns","type":"int"},
  {"name":"ready","label":"ready","unit":"count","type":"real"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"share","label":"of its time","unit":"ratio","type":"real","of":"its time"}],
 "rows":[
  ["train.py[50] python3","the loop","DataLoader.__next__",16,144400000,9025000,null,null,0.5,12000000,12000000,0.505956552],
  ["train.py[60] python3","worker","a batch's samples",8,288000000,36000000,64,4500000,null,36000000,36000000,0.972972973],
  ["train.py[61] python3","worker","a batch's samples",8,288000000,36000000,64,4500000,null,36000000,36000000,0.972972973]],
 "totals":{},
 "coverage":1,"losses":[],
 "heads":["The loop asked for 16 batches and waited 144 ms for them, 9.03 ms each.","73% of those after the first of an epoch found the queue empty; on average it had 0.5 ready.","2 workers made 16 batches, 36.0 ms the median one, 4.50 ms a sample."],
 "notes":[]}
]}
