$ trace train && dwell report train.dwell --view threads --format json
{"dwell":1,"views":[
{"view":"threads","traces":["train.dwell"],"scope":{},
 "columns":[
  {"name":"thread","label":"thread","unit":"","type":"text"},
  {"name":"pid","label":"pid","unit":"","type":"int"},
  {"name":"tid","label":"tid","unit":"","type":"int"},
  {"name":"records","label":"records","unit":"count","type":"int"},
  {"name":"ranges","label":"ranges","unit":"count","type":"int"},
  {"name":"first_ns","label":"first","unit":"ns","type":"int"},
  {"name":"last_ns","label":"last","unit":"ns","type":"int"},
  {"name":"busy_ns","label":"busy","unit":"ns","type":"int"},
  {"name":"busy_share","label":"busy share","unit":"ratio","type":"real","of":"the time between its records"},
  {"name":"gap_ns","label":"overwritten","unit":"ns","type":"int"},
  {"name":"lost","label":"lost","unit":"count","type":"int"},
  {"name":"threads","label":"threads","unit":"count","type":"int"}],
 "rows":[
  ["train",4711,4711,812,406,5000000,1019500000,968500000,0.954657467,0,0,1],
  ["loader",4711,4712,168,84,47000000,949000000,861000000,0.954545455,0,0,1]],
 "totals":{"records":980,"ranges":490,"lost":0},
 "coverage":1,"losses":[],
 "notes":[]}
]}

$ trace nosteps && dwell report nosteps.dwell --view threads
thread       pid  tid  records  ranges   first   last    busy  busy share       lost
sim          300  300       28      15  2.00ms  154ms   145ms       95.7%          0
io           300  301        2       1  40.0ms  100ms  60.0ms      100.0%  1,204,332
all threads                 30      16                                     1,204,332

Recorded: 79.8% of this time.
Lost: 1,204,331 records (disk: the disk was full).
Lost: 1 record (busy: a signal handler interrupted the recorder twice).

$ trace python && dwell report python.dwell --view threads
thread   pid  tid  records  ranges  first   last   busy  busy share  lost
python3   50   50       50      25  330ms  775ms  369ms       82.9%     0

Recorded: 74.2% of this time.

$ trace ranks && dwell report ranks.dwell --view threads
thread        pid  tid  records  ranges   first    last    busy  busy share  lost
rank 0 train   11   11       20      10  2.00ms  40.0ms  30.0ms       78.9%     0
rank 1 train   12   12       20      10  2.00ms  40.0ms  30.0ms       78.9%     0
all threads                  40      20                                         0

$ trace empty && dwell report empty.dwell --view threads
Nothing was recorded here.

$ trace figures_threads && dwell report figures_threads.dwell --view threads
thread       pid  tid  records  ranges  first    last    busy  busy share  lost
omp           20   20        8       4      0  36.0ms  24.0ms       66.7%     0
worker [21]   20   21        8       4      0  36.0ms  24.0ms       66.7%     0
worker [22]   20   22        9       4  100ms   136ms  24.0ms       66.7%     0
pool          20   23       28      14      0   140ms   140ms      100.0%     0
all threads                 53      26                                        0

$ trace hang && dwell report hang.dwell --view threads
thread        pid  tid  records  ranges  first   last    busy  busy share  lost
rank 0 train   11   11       85      43  101ms  15.0s   14.9s       99.9%     0
rank 0 loop    11   13        2       1  15.0s  15.0s  1.00ms      100.0%     0
rank 1 train   12   12       80      40  101ms  210ms   100ms       91.7%     0
rank 1 loop    12   14        2       1  15.0s  15.0s  1.00ms      100.0%     0
all threads                 169      85                                       0
