$ trace places && dwell report places.dwell --view actions
action       kind  calls    self   total    mean     min     max     p50     p99  of wall  place
forward      zone      1  20.0ms  20.0ms  20.0ms  20.0ms  20.0ms  20.0ms  20.0ms   100.0%  infer.c:40
all actions            1  20.0ms

$ trace train && dwell report train.dwell --view actions --format json
{"dwell":1,"views":[
{"view":"actions","traces":["train.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"action","unit":"","type":"text"},
  {"name":"category","label":"kind","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"share","label":"of wall","unit":"ratio","type":"real","sums":"self_ns","whole":1.0195e+09}],
 "rows":[
  ["decode","data",42,861000000,861000000,20500000,20500000,20500000,20500000,20500000,0.844531633],
  ["forward","phase",40,360900000,360900000,9022500,8000000,48000000,8000000,48000000,0.353997057],
  ["backward","phase",40,320000000,320000000,8000000,8000000,8000000,8000000,8000000,0.313879353],
  ["validate","evaluation",1,90000000,90000000,90000000,90000000,90000000,90000000,90000000,0.0882785679],
  ["next-batch","data",40,80900000,80900000,2022500,2000000,2100000,2000000,2100000,0.0793526238],
  ["optimizer","phase",40,62700000,62700000,1567500,1500000,1800000,1500000,1800000,0.0615007357],
  ["load model","zone",1,40000000,40000000,40000000,40000000,40000000,40000000,40000000,0.0392349191],
  ["save weights","checkpoint",1,12000000,12000000,12000000,12000000,12000000,12000000,12000000,0.0117704757],
  ["write log","zone",1,2000000,2000000,2000000,2000000,2000000,2000000,2000000,0.00196174595]],
 "totals":{"calls":206,"self_ns":1829500000},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ trace nosteps && dwell report nosteps.dwell --view actions --format json
{"dwell":1,"views":[
{"view":"actions","traces":["nosteps.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"action","unit":"","type":"text"},
  {"name":"category","label":"kind","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"share","label":"of wall","unit":"ratio","type":"real","sums":"self_ns","whole":153510000}],
 "rows":[
  ["solve","zone",6,104000000,104000000,17333333,4000000,20000000,20000000,20000000,0.677480294],
  ["write","zone",1,60000000,60000000,60000000,60000000,60000000,60000000,60000000,0.390854016],
  ["setup","zone",1,31000000,41000000,41000000,41000000,41000000,41000000,41000000,0.201941242],
  ["read mesh","zone",1,10000000,10000000,10000000,10000000,10000000,10000000,10000000,0.065142336],
  ["report","zone",1,10000,10000,10000,10000,10000,10000,10000,6.5142336e-05]],
 "totals":{"calls":10,"self_ns":205010000},
 "coverage":0.79809071,"losses":[{"cause":"disk","records":1204331},{"cause":"busy","records":1}],
 "notes":["1 call did not end; counted until the end of its process."]}
]}

$ trace python && dwell report python.dwell --view actions
action               kind   calls    self   total    mean     min     max     p50     p99  of wall
DataLoader.__next__  data       4   120ms   120ms  30.0ms  30.0ms  30.0ms  30.0ms  30.0ms    15.5%
forward              phase      4   120ms   120ms  30.0ms  30.0ms  30.0ms  30.0ms  30.0ms    15.5%
backward             phase      4   120ms   120ms  30.0ms  30.0ms  30.0ms  30.0ms  30.0ms    15.5%
summary              zone       1  5.00ms  5.00ms  5.00ms  5.00ms  5.00ms  5.00ms  5.00ms     0.6%
all actions                    13   365ms

Recorded: 74.2% of this time.

$ trace ranks && dwell report ranks.dwell --view actions
action       kind           calls    self   total    mean     min     max     p50     p99  of all
forward      phase             10  45.0ms  45.0ms  4.50ms  4.00ms  5.00ms  4.00ms  5.00ms   75.0%
all_reduce   communication     10  15.0ms  15.0ms  1.50ms  1.00ms  2.00ms  1.00ms  2.00ms   25.0%
all actions                    20  60.0ms

$ trace device_train && dwell report device_train.dwell --view actions --format json
{"dwell":1,"views":[
{"view":"actions","traces":["device_train.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"action","unit":"","type":"text"},
  {"name":"category","label":"kind","unit":"","type":"text"},
  {"name":"calls","label":"calls","unit":"count","type":"int"},
  {"name":"self_ns","label":"self","unit":"ns","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"min_ns","label":"min","unit":"ns","type":"int"},
  {"name":"max_ns","label":"max","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"share","label":"of wall","unit":"ratio","type":"real","sums":"self_ns","whole":1800000},
  {"name":"device_ns","label":"device","unit":"ns","type":"int"},
  {"name":"device_total_ns","label":"device total","unit":"ns","type":"int"},
  {"name":"device_events","label":"device events","unit":"count","type":"int"}],
 "rows":[
  ["run","action",1,1346000,1799000,1799000,1799000,1799000,1799000,1799000,0.747777778,60000,1581000,3],
  ["backward","phase",3,249000,249000,83000,83000,83000,83000,83000,0.138333333,900000,900000,3],
  ["forward","phase",3,129000,129000,43000,43000,43000,43000,43000,0.0716666667,441000,441000,9],
  ["clip","zone",3,39000,39000,13000,13000,13000,13000,13000,0.0216666667,180000,180000,3]],
 "totals":{"calls":10,"self_ns":1763000},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ trace lightning && dwell report lightning.dwell --view actions
action                          kind    calls    self   total    mean     min     max     p50     p99  of wall
inner                           action      2  20.0ms  20.0ms  10.0ms  10.0ms  10.0ms  10.0ms  10.0ms    34.5%
outer                           action      3  13.0ms  33.0ms  11.3ms  1.00ms  30.0ms  3.00ms  30.0ms    22.4%
[LightningModule]Net.test_step  action      2  5.00ms  5.00ms  2.50ms  1.00ms  4.00ms  1.00ms  4.00ms     8.6%
Überprüfung                     action      1  2.00us  2.00us  2.00us  2.00us  2.00us  2.00us  2.00us     0.0%
all actions                                 8  38.0ms

$ trace empty && dwell report empty.dwell --view actions
2> dwell: empty.dwell has no named ranges: mark them with DWELL_ZONE("name")
[1]

$ trace recorders && dwell report recorders.dwell --view actions
action       kind  calls    self   total    mean     min     max     p50     p99  of all
empty        zone     10  20.0ms  20.0ms  2.00ms  2.00ms  2.00ms  2.00ms  2.00ms  100.0%
all actions           10  20.0ms

$ trace figures_recursion && dwell report figures_recursion.dwell --view actions
action       kind  calls   self  total   mean    min    max    p50    p99  of wall
f            zone     10  123ms  123ms  114ms  105ms  123ms  113ms  123ms    95.3%
all actions           10  123ms
