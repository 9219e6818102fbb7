$ trace served && dwell report served.dwell --view requests
threads, tasks               count  at once    mean   share     p50     p90     p95     p99  longest  most of it in
generate                         2        2  43.5ms  100.0%  63.0ms  63.0ms  63.0ms  63.0ms   63.0ms
  waits for its first stage      2           8.50ms   19.5%  15.0ms  15.0ms  15.0ms  15.0ms   15.0ms
  prefill                        2           9.00ms   20.7%  9.00ms  9.00ms  9.00ms  9.00ms   9.00ms
  decode                         1           52.0ms   59.8%  52.0ms  52.0ms  52.0ms  52.0ms   52.0ms
  to the first token             2           17.5ms          24.0ms  24.0ms  24.0ms  24.0ms   24.0ms
  a further token                1           10.0ms          10.0ms  10.0ms  10.0ms  10.0ms   10.0ms

1 request had not ended when the recording did, and is left out here.

  answers   requests  tokens  a request  all together  one: p50     p10      p1
  generate         2       7        3.5         111/s    95.2/s  41.7/s  41.7/s

What a request gets a second is by its whole time; p10: one in ten gets less.

  the slowest      at    took  to the first  a further one  tokens  stages                                          thread
  generate     8.00ms  63.0ms        11.0ms         10.0ms       6  waits 2.00 ms, prefill 9.00 ms, decode 52.0 ms  http
  generate     25.0ms  24.0ms        24.0ms                      1  waits 15.0 ms, prefill 9.00 ms                  http

  requests in a batch  batches   total   share    mean     p50     p99  tokens each  tokens  waiting
  1 decode                   4  40.0ms   66.7%  10.0ms  10.0ms  10.0ms            1   100/s      0.5
  1 prefill                  1  10.0ms   16.7%  10.0ms  10.0ms  10.0ms            1   100/s        0
  1 prefill, 1 decode        1  10.0ms   16.7%  10.0ms  10.0ms  10.0ms            2   200/s        0
  all batches                6  60.0ms  100.0%  10.0ms                         1.17   117/s    0.333

A batch is a step of the engine, with what was in flight in its middle, or what its name says. Tokens are those that it makes, and those of prompts if the name says them.

$ dwell report served.dwell --view requests --format json
{"dwell":1,"views":[
{"view":"requests","traces":["served.dwell"],"scope":{},
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
 "rows":[
  ["generate",2,2,43500000,1,63000000,63000000,63000000,63000000,63000000,null],
  ["waits for its first stage",2,null,8500000,0.195402299,15000000,15000000,15000000,15000000,15000000,null],
  ["prefill",2,null,9000000,0.206896552,9000000,9000000,9000000,9000000,9000000,null],
  ["decode",1,null,52000000,0.597701149,52000000,52000000,52000000,52000000,52000000,null],
  ["to the first token",2,null,17500000,null,24000000,24000000,24000000,24000000,24000000,null],
  ["a further token",1,null,10000000,null,10000000,10000000,10000000,10000000,10000000,null]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":["1 request had not ended when the recording did, and is left out here."]},
{"view":"requests","part":"tokens","traces":["served.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"answers","unit":"","type":"text"},
  {"name":"requests","label":"requests","unit":"count","type":"int"},
  {"name":"tokens","label":"tokens","unit":"count","type":"int"},
  {"name":"each","label":"a request","unit":"","type":"real"},
  {"name":"rate","label":"all together","unit":"1/s","type":"real"},
  {"name":"p50_rate","label":"one: p50","unit":"1/s","type":"real"},
  {"name":"p10_rate","label":"p10","unit":"1/s","type":"real"},
  {"name":"p1_rate","label":"p1","unit":"1/s","type":"real"}],
 "rows":[
  ["generate",2,7,3.5,111.111111,95.2380952,41.6666667,41.6666667]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":["What a request gets a second is by its whole time; p10: one in ten gets less."]},
{"view":"requests","part":"slowest","traces":["served.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"the slowest","unit":"","type":"text"},
  {"name":"start_ns","label":"at","unit":"ns","type":"int"},
  {"name":"duration_ns","label":"took","unit":"ns","type":"int"},
  {"name":"first_ns","label":"to the first","unit":"ns","type":"int"},
  {"name":"each_ns","label":"a further one","unit":"ns","type":"int"},
  {"name":"tokens","label":"tokens","unit":"count","type":"int"},
  {"name":"stages","label":"stages","unit":"","type":"text"},
  {"name":"thread","label":"thread","unit":"","type":"text"}],
 "rows":[
  ["generate",8000000,63000000,11000000,10000000,6,"waits 2.00 ms, prefill 9.00 ms, decode 52.0 ms","http"],
  ["generate",25000000,24000000,24000000,null,1,"waits 15.0 ms, prefill 9.00 ms","http"]],
 "totals":{},
 "coverage":1,"losses":[],
 "notes":[]},
{"view":"requests","part":"batches","traces":["served.dwell"],"scope":{},
 "columns":[
  {"name":"name","label":"requests in a batch","unit":"","type":"text"},
  {"name":"count","label":"batches","unit":"count","type":"int"},
  {"name":"total_ns","label":"total","unit":"ns","type":"int"},
  {"name":"share","label":"share","unit":"ratio","type":"real","sums":"total_ns","whole":60000000},
  {"name":"mean_ns","label":"mean","unit":"ns","type":"int"},
  {"name":"p50_ns","label":"p50","unit":"ns","type":"int"},
  {"name":"p99_ns","label":"p99","unit":"ns","type":"int"},
  {"name":"tokens","label":"tokens each","unit":"","type":"real"},
  {"name":"tokens_rate","label":"tokens","unit":"1/s","type":"real"},
  {"name":"waiting","label":"waiting","unit":"","type":"real"}],
 "rows":[
  ["1 decode",4,40000000,0.666666667,10000000,10000000,10000000,1,100,0.5],
  ["1 prefill",1,10000000,0.166666667,10000000,10000000,10000000,1,100,0],
  ["1 prefill, 1 decode",1,10000000,0.166666667,10000000,10000000,10000000,2,200,0]],
 "totals":{"count":6,"total_ns":60000000,"share":1,"mean_ns":10000000,"tokens":1.16666667,"tokens_rate":116.666667,"waiting":0.333333333},
 "coverage":1,"losses":[],
 "notes":["A batch is a step of the engine, with what was in flight in its middle, or what its name says. Tokens are those that it makes, and those of prompts if the name says them."]}
]}

$ dwell report served.dwell --view requests --format csv --limit 1
name,count,at_once,mean_ns,share,p50_ns,p90_ns,p95_ns,p99_ns,max_ns,most
generate,2,2,43500000,1,63000000,63000000,63000000,63000000,63000000,

name,requests,tokens,each,rate,p50_rate,p10_rate,p1_rate
generate,2,7,3.5,111.111111,95.2380952,41.6666667,41.6666667

name,start_ns,duration_ns,first_ns,each_ns,tokens,stages,thread
generate,8000000,63000000,11000000,10000000,6,"waits 2.00 ms, prefill 9.00 ms, decode 52.0 ms",http

name,count,total_ns,share,mean_ns,p50_ns,p99_ns,tokens,tokens_rate,waiting
1 decode,4,40000000,0.666666667,10000000,10000000,10000000,1,100,0.5

$ dwell report served.dwell --view async
asynchronous range  calls   total    mean     min     p50     p99     max  at once  not ended
generate                3  89.0ms  29.7ms  2.00ms  24.0ms  63.0ms  63.0ms        2          1
decode                  1  52.0ms  52.0ms  52.0ms  52.0ms  52.0ms  52.0ms        1
prefill                 2  18.0ms  9.00ms  9.00ms  9.00ms  9.00ms  9.00ms        1
transfer                1  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms  1.00ms        1

$ dwell query served.dwell "select name, start_ns, duration_ns, queue_ns, prefill_ns, decode_ns, first_ns, tokens, ended from served"
name      start_ns  duration_ns  queue_ns  prefill_ns  decode_ns  first_ns  tokens  ended
generate   8000000     63000000   2000000     9000000   52000000  11000000       6      1
generate  25000000     24000000  15000000     9000000          0  24000000       1      1
generate  72000000      2000000                                                  0      0

$ dwell query served.dwell "select * from batches"
start_ns  duration_ns  requests             waiting  tokens  pid
10000000     10000000  1 prefill                  0       1  900
20000000     10000000  1 decode                   1       1  900
30000000     10000000  1 decode                   1       1  900
40000000     10000000  1 prefill, 1 decode        0       2  900
50000000     10000000  1 decode                   0       1  900
60000000     10000000  1 decode                   0       1  900
