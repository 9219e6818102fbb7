$ trace answered && dwell report answered.dwell --view requests
threads, tasks       count  at once    mean   share     p50     p90     p95     p99  longest  most of it in
POST /chat               2        2  46.5ms  100.0%  53.0ms  53.0ms  53.0ms  53.0ms   53.0ms
  to the first send      2           19.0ms          23.0ms  23.0ms  23.0ms  23.0ms   23.0ms
  a further send         2           7.50ms          10.0ms  10.0ms  10.0ms  10.0ms   10.0ms
GET /models              1        1  2.00ms  100.0%  2.00ms  2.00ms  2.00ms  2.00ms   2.00ms
  to the first send      1           2.00ms          2.00ms  2.00ms  2.00ms  2.00ms   2.00ms

Requests that are not marked are turns of a connection: from the first bytes read to the last sent.

  answers      requests  sends  a request  all together  one: p50     p10      p1
  POST /chat          2     10          5         182/s     150/s  75.5/s  75.5/s
  GET /models         1      1          1         500/s     500/s   500/s   500/s

What a request gets a second is by its whole time; p10: one in ten gets less.

  the slowest      at    took  to the first  a further one  sends  stages  thread
  POST /chat   22.0ms  53.0ms        23.0ms         10.0ms      4          http
  POST /chat   20.0ms  40.0ms        15.0ms         5.00ms      6          http
  GET /models  10.0ms  2.00ms        2.00ms                     1          http
