$ trace train && dwell report train.dwell --view phases --format json
{"dwell":1,"views":[
{"view":"phases","traces":["train.dwell"],"scope":{},
 "columns":[
  {"name":"phase","label":"phase","unit":"","type":"text"},
  {"name":"where","label":"where","unit":"","type":"text"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"per_step_ns","label":"per step","unit":"ns","type":"real"},
  {"name":"share","label":"of wall","unit":"ratio","type":"real"}],
 "rows":[
  ["forward","steps",320900000,8022500,0.314762138],
  ["backward","steps",320000000,8000000,0.313879353],
  ["data","steps",80900000,2022500,0.0793526238],
  ["optimizer","steps",62700000,1567500,0.0615007357],
  ["collector","steps",40000000,1000000,0.0392349191],
  ["other","steps",20000000,500000,0.0196174595],
  ["start-up","outside",46000000,null,0.0451201569],
  ["evaluation","outside",90000000,null,0.0882785679],
  ["checkpoint","outside",12000000,null,0.0117704757],
  ["other","outside",4900000,null,0.00480627759],
  ["after the last step","outside",22100000,null,0.0216772928]],
 "totals":{"total_ns":1019500000,"per_step_ns":21112500,"share":1},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ trace nosteps && dwell report nosteps.dwell --view phases
2> dwell: nosteps.dwell has no steps: mark each iteration with DWELL_STEP() or dwell_step(), in Python dwell.step(), or record with dwell run --step-on NAME
[1]

$ trace python && dwell report python.dwell --view phases
phase                where    total ms  per step ms  of wall
data                 steps       120.0         30.0    15.5%
backward             steps       100.0         25.0    12.9%
python               steps        96.0         24.0    12.4%
forward              steps        80.0         20.0    10.3%
profiler             steps         4.0          1.0     0.5%
not recorded         steps       200.0                 25.8%
start-up             outside     110.0                 14.2%
other                outside      50.0                  6.5%
after the last step  outside      15.0                  1.9%
all                              775.0        100.0   100.0%

python: the interpreter and waits, where no operator ran.
Recorded: 74.2% of this time.

$ trace ranks && dwell report ranks.dwell --view phases
phase          where    total ms  per step ms  of wall
forward        steps        45.0         4.50    54.9%
communication  steps        15.0         1.50    18.3%
other          steps        10.0         1.00    12.2%
start-up       outside       4.0                  4.9%
other          outside       8.0                  9.8%
all                         82.0         7.00   100.0%

Sums over 2 processes with steps.

$ trace device_train && dwell report device_train.dwell --view phases --format json
{"dwell":1,"views":[
{"view":"phases","traces":["device_train.dwell"],"scope":{},
 "columns":[
  {"name":"phase","label":"phase","unit":"","type":"text"},
  {"name":"where","label":"where","unit":"","type":"text"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"per_step_ns","label":"per step","unit":"ns","type":"real"},
  {"name":"share","label":"of wall","unit":"ratio","type":"real"},
  {"name":"device_ns","label":"device","unit":"ns","type":"int"},
  {"name":"device_events","label":"device events","unit":"count","type":"int"}],
 "rows":[
  ["python","steps",261000,87000,0.145,null,null],
  ["forward","steps",72000,24000,0.04,441000,9],
  ["backward","steps",45000,15000,0.025,900000,3],
  ["clip","steps",39000,13000,0.0216666667,180000,3],
  ["ITERATION_STARTED","steps",36000,12000,0.02,60000,3],
  ["run","steps",12000,4000,0.00666666667,null,null],
  ["start-up","outside",10000,null,0.00555555556,null,null],
  ["other","outside",890000,null,0.494444444,null,null],
  ["after the last step","outside",435000,null,0.241666667,null,null]],
 "totals":{"total_ns":1800000,"per_step_ns":155000,"share":1,"device_ns":1581000,"device_events":18},
 "coverage":1,"losses":[],
 "notes":["python: the interpreter and waits, where no operator ran."]}
]}

$ dwell report device_train.dwell --view phases --steps 1
Only step 1.

phase              where  total us  per step us  of wall  device  device events
python             steps      87.0         87.0    56.1%
forward            steps      24.0         24.0    15.5%   147us              3
backward           steps      15.0         15.0     9.7%   300us              1
clip               steps      13.0         13.0     8.4%  60.0us              1
ITERATION_STARTED  steps      12.0         12.0     7.7%  20.0us              1
run                steps       4.0          4.0     2.6%
all                          155.0        155.0   100.0%   527us              6

python: the interpreter and waits, where no operator ran.

$ trace empty && dwell report empty.dwell --view phases
2> dwell: empty.dwell has no steps: mark each iteration with DWELL_STEP() or dwell_step(), in Python dwell.step(), or record with dwell run --step-on NAME
[1]

$ trace figures_named && dwell report figures_named.dwell --view phases
phase       where    total ms  per step ms  of wall
tokenize    steps        30.0         5.00    42.9%
fwd         steps        12.0         2.00    17.1%
operators   steps         6.0         1.00     8.6%
sgd_update  steps         6.0         1.00     8.6%
epoch       steps         4.0         0.67     5.7%
other       steps         2.0         0.33     2.9%
start-up    outside      10.0                 14.3%
all                      70.0        10.00   100.0%

$ trace figures_threads && dwell report figures_threads.dwell --view phases
phase                where    total ms  per step ms  of wall
operators            steps        72.0         6.00    32.7%
other                steps        48.0         4.00    21.8%
after the last step  outside     100.0                 45.5%
all                              220.0        10.00   100.0%

Sums over 3 threads with steps.

$ trace figures_newest && dwell report figures_newest.dwell --view phases
phase         where  total ms  per step ms  of wall
outer         steps      15.0         5.00    14.6%
other         steps      15.0         5.00    14.6%
not recorded  steps      73.0                 70.9%
all                     103.0        10.00   100.0%

Recorded: 32.0% of this time.
Lost: 70 records (recycled: the middle was overwritten to stay within --max-size).

$ trace figures_oldest && dwell report figures_oldest.dwell --view phases
phase         where  total ms  per step ms  of wall
outer         steps      10.0         5.00    10.0%
other         steps      10.0         5.00    10.0%
not recorded  steps      80.0                 80.0%
all                     100.0        10.00   100.0%

Recorded: 29.0% of this time.
Lost: 70 records (full: the trace reached --max-size).

$ trace reduced && dwell report reduced.dwell --view phases
phase                       where    total ms  per step ms  of wall
forward                     steps        20.0         10.0     9.5%
python                      steps        20.0         10.0     9.5%
recorded without operators  steps       160.0                 76.2%
other                       outside       9.0                  4.3%
after the last step         outside       1.0                  0.5%
all                                     210.0         20.0   100.0%

python: the interpreter and waits, where no operator ran.
