$ trace train && dwell report train.dwell --view phases --format json
{"dwell":1,"views":[
{"view":"phases","traces":["train.dwell"],"scope":{},
 "columns":[
  {"name":"phase","label":"phase","unit":"","type":"text"},
  {"name":"where","label":"where","unit":"","type":"text"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"per_step_ns","label":"per step","unit":"ns","type":"real"},
  {"name":"share","label":"of wall","unit":"ratio","type":"real","sums":"total_ns","whole":1.0195e+09},
  {"name":"loop_share","label":"of the loop","unit":"ratio","type":"real","sums":"per_step_ns","whole":23785000}],
 "rows":[
  ["forward","steps",320900000,8022500,0.314762138,0.337292411],
  ["backward","steps",320000000,8000000,0.313879353,0.336346437],
  ["data","steps",80900000,2022500,0.0793526238,0.0850325836],
  ["optimizer","steps",62700000,1567500,0.0615007357,0.06590288],
  ["collector","steps",40000000,1000000,0.0392349191,0.0420433046],
  ["other","steps",20000000,500000,0.0196174595,0.0210216523],
  ["start-up","outside",46000000,null,0.0451201569,null],
  ["evaluation","outside",90000000,2250000,0.0882785679,0.0945974354],
  ["checkpoint","outside",12000000,300000,0.0117704757,0.0126129914],
  ["between steps","outside",4900000,122500,0.00480627759,0.00515030481],
  ["after the last step","outside",22100000,null,0.0216772928,null]],
 "totals":{"total_ns":1019500000,"per_step_ns":23785000,"share":1},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ trace nosteps && dwell report nosteps.dwell --view phases
2> dwell: nosteps.dwell has no steps: mark each iteration with DWELL_STEP() or dwell_step(), in Python dwell.step(), or record with dwell run --step-on NAME
[1]

$ trace python && dwell report python.dwell --view phases
phase                where    total ms  per step ms  of wall  of the loop
data                 steps       120.0         30.0    15.5%
backward             steps       100.0         25.0    12.9%
python               steps        96.0         24.0    12.4%
forward              steps        80.0         20.0    10.3%
profiler             steps         4.0          1.0     0.5%
not recorded         steps       200.0                 25.8%
start-up             outside     110.0                 14.2%
between steps        outside      50.0                  6.5%
after the last step  outside      15.0                  1.9%
all                              775.0        100.0   100.0%

python: the interpreter, where no operator ran.
Recorded: 74.2% of this time.

$ trace ranks && dwell report ranks.dwell --view phases
phase          where    total ms  per step ms  of wall  of the loop
forward        steps        45.0         4.50    54.9%        57.7%
communication  steps        15.0         1.50    18.3%        19.2%
other          steps        10.0         1.00    12.2%        12.8%
start-up       outside       4.0                  4.9%
between steps  outside       8.0         0.80     9.8%        10.3%
all                         82.0         7.80   100.0%

Sums over 2 processes with steps.

$ trace device_train && dwell report device_train.dwell --view phases --format json
{"dwell":1,"views":[
{"view":"phases","traces":["device_train.dwell"],"scope":{},
 "columns":[
  {"name":"phase","label":"phase","unit":"","type":"text"},
  {"name":"where","label":"where","unit":"","type":"text"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"per_step_ns","label":"per step","unit":"ns","type":"real"},
  {"name":"share","label":"of wall","unit":"ratio","type":"real","sums":"total_ns","whole":1800000},
  {"name":"loop_share","label":"of the loop","unit":"ratio","type":"real","sums":"per_step_ns","whole":451666.667},
  {"name":"device_ns","label":"device","unit":"ns","type":"int"},
  {"name":"device_events","label":"device events","unit":"count","type":"int"}],
 "rows":[
  ["python","steps",261000,87000,0.145,0.192619926,null,null],
  ["forward","steps",72000,24000,0.04,0.0531365314,441000,9],
  ["backward","steps",45000,15000,0.025,0.0332103321,900000,3],
  ["clip","steps",39000,13000,0.0216666667,0.0287822878,180000,3],
  ["ITERATION_STARTED","steps",36000,12000,0.02,0.0265682657,60000,3],
  ["run","steps",12000,4000,0.00666666667,0.00885608856,null,null],
  ["start-up","outside",10000,null,0.00555555556,null,null,null],
  ["after the last step","outside",435000,null,0.241666667,null,null,null],
  ["run","outside",890000,296666.667,0.494444444,0.656826568,null,null]],
 "totals":{"total_ns":1800000,"per_step_ns":451666.667,"share":1,"device_ns":1581000,"device_events":18},
 "coverage":1,"losses":[],
 "notes":["python: the interpreter, where no operator ran."]}
]}

$ dwell report device_train.dwell --view phases --steps 1
Only step 1.

phase              where  total us  per step us  of wall  of the loop  device  device events
python             steps      87.0         87.0    14.5%        14.5%
forward            steps      24.0         24.0     4.0%         4.0%   147us              3
backward           steps      15.0         15.0     2.5%         2.5%   300us              1
clip               steps      13.0         13.0     2.2%         2.2%  60.0us              1
ITERATION_STARTED  steps      12.0         12.0     2.0%         2.0%  20.0us              1
run                steps       4.0          4.0     0.7%         0.7%
all                          600.0        600.0   100.0%                527us              6

python: the interpreter, where no operator ran.

$ trace empty && dwell report empty.dwell --view phases
2> dwell: empty.dwell has no steps: mark each iteration with DWELL_STEP() or dwell_step(), in Python dwell.step(), or record with dwell run --step-on NAME
[1]

$ trace figures_named && dwell report figures_named.dwell --view phases
phase       where    total ms  per step ms  of wall  of the loop
tokenize    steps        30.0         5.00    42.9%        50.0%
fwd         steps        12.0         2.00    17.1%        20.0%
operators   steps         6.0         1.00     8.6%        10.0%
sgd_update  steps         6.0         1.00     8.6%        10.0%
epoch       steps         4.0         0.67     5.7%         6.7%
other       steps         2.0         0.33     2.9%         3.3%
start-up    outside      10.0                 14.3%
all                      70.0        10.00   100.0%

$ trace figures_threads && dwell report figures_threads.dwell --view phases
phase                where    total ms  per step ms  of wall  of the loop
operators            steps        72.0         6.00    32.7%        60.0%
other                steps        48.0         4.00    21.8%        40.0%
after the last step  outside     100.0                 45.5%
all                              220.0        10.00   100.0%

Sums over 3 threads with steps.

$ trace figures_newest && dwell report figures_newest.dwell --view phases
phase         where  total ms  per step ms  of wall  of the loop
outer         steps      15.0         5.00    14.6%
other         steps      15.0         5.00    14.6%
not recorded  steps      73.0                 70.9%
all                     103.0        10.00   100.0%

Recorded: 32.0% of this time.
Lost: 70 records (recycled: the middle was overwritten to stay within --max-size).

$ trace figures_oldest && dwell report figures_oldest.dwell --view phases
phase         where  total ms  per step ms  of wall  of the loop
outer         steps      10.0         5.00    10.0%
other         steps      10.0         5.00    10.0%
not recorded  steps      80.0                 80.0%
all                     100.0        10.00   100.0%

Recorded: 29.0% of this time.
Lost: 70 records (full: the trace reached --max-size).

$ trace reduced && dwell report reduced.dwell --view phases
phase                       where    total ms  per step ms  of wall  of the loop
forward                     steps        20.0         10.0     9.5%
python                      steps        20.0         10.0     9.5%
recorded without operators  steps       160.0                 76.2%
between steps               outside       9.0                  4.3%
after the last step         outside       1.0                  0.5%
all                                     210.0         20.0   100.0%

python: the interpreter, where no operator ran.
