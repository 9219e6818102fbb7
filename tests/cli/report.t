# dwell report: which trace, which view, which rows; and every way to get it wrong.
$ dwell report
2> dwell: no trace is given, and this folder has no *.dwell
[1]

$ trace train && dwell report --view threads
thread        pid   tid  records  ranges   first   last   busy  busy share  lost
train        4711  4711      812     406  5.00ms  1.02s  968ms       95.5%     0
loader       4711  4712      168      84  47.0ms  949ms  861ms       95.5%     0
all threads                  980     490                                       0
2> dwell: train.dwell is the newest trace here

$ trace nosteps && touch -d '2020-01-01' nosteps.dwell && dwell report --view threads --format csv
thread,pid,tid,records,ranges,first_ns,last_ns,busy_ns,busy_share,gap_ns,lost,threads
train,4711,4711,812,406,5000000,1019500000,968500000,0.954657467,0,0,1
loader,4711,4712,168,84,47000000,949000000,861000000,0.954545455,0,0,1
2> dwell: train.dwell is the newest trace here

$ dwell report nothing.dwell
2> dwell: cannot open nothing.dwell: No such file or directory
[1]

$ echo hello > text.dwell && dwell report text.dwell
2> dwell: text.dwell is not a dwell trace: it looks like text
[1]

$ echo 'import torch' > train.py && dwell report train.py
2> dwell: train.py is a script, and no dwell trace: 'dwell train.py' records it
[1]

$ dwell report train.dwell --view threads -o threads.pdf && dwell report train.dwell --view threads -o threads.txt && cmp threads.pdf threads.txt
2> dwell: threads.pdf: no format has the ending .pdf, so it is text (--format has the others)

$ dwell diff train.dwell
2> dwell: one trace is given, and a comparison needs two: dwell diff BEFORE... -- AFTER...
[2]

$ dwell diff train.dwell nosteps.dwell text.dwell
2> dwell: 3 traces are given and no '--' between those before and those after a change: dwell diff BEFORE... -- AFTER...
[2]

$ : > nil.dwell && dwell report nil.dwell
2> dwell: nil.dwell is empty: nothing was recorded into it
[1]

$ dwell report .
2> dwell: . is a directory; name a trace file (*.dwell) in it
[1]

$ dwell report train.dwell --view operatrs
2> dwell: no view 'operatrs'; did you mean 'operators'? (dwell report --help lists all)
[2]

$ dwell report train.dwell --view zzz
2> dwell: no view 'zzz' (dwell report --help lists all)
[2]

$ dwell report operators
2> dwell: no trace 'operators'; did you mean '--view operators'?
[2]

$ dwell report train.dwell --view operators --sort sefl_ns
2> dwell: no column 'sefl_ns' in operators; did you mean 'self_ns'?
[2]

$ dwell report train.dwell --view actions --sort zzz
2> dwell: no column 'zzz' in actions; it has name category calls self_ns total_ns mean_ns min_ns max_ns p50_ns p99_ns share
[2]

$ dwell report train.dwell --view operators --sort calls --limit 2 | cut -c 1-27
operator       calls   self
conv2d            81  320ms
resize            42  126ms
all operators    283  830ms

4 more rows: --limit all sh

$ dwell report train.dwell --view operators --limit 0
2> dwell: --limit takes a number of rows, at least 1, or all; not '0'
[2]

$ dwell report train.dwell --view operators --limit all | wc -l
8

$ dwell report train.dwell --format jsno
2> dwell: no format 'jsno'; did you mean 'json'? There are text, csv, json, md, html
[2]

$ dwell report train.dwell --steps 20..10
2> dwell: steps 20..10: the first is past the last
[2]

$ dwell report train.dwell --steps ten
2> dwell: 'ten' is not a range of steps: write A..B, A.. or ..B, counted from 0
[2]

$ dwell report train.dwell --steps 100..200
2> dwell: train.dwell has steps 0..39, none of 100..200
[1]

$ dwell report train.dwell --view steps --steps 38.. --format csv | cut -c1-40
step,thread,start_ns,duration_ns,until_n
38,train,956300000,20500000,20600000,1,0
39,train,976900000,20500000,,1,0.9268292

$ dwell report train.dwell --thread trian
2> dwell: no thread 'trian' in train.dwell; did you mean 'train'? (dwell report --view threads lists all)
[2]

$ dwell report train.dwell --thread 4712 --view operators --format csv | cut -d , -f 1-4
name,calls,self_ns,total_ns
resize,42,126000000,126000000

$ dwell report train.dwell --stpes 1..2
2> dwell: no option '--stpes'; did you mean '--steps'? (dwell report --help lists all)
[2]

$ dwell report train.dwell --view
2> dwell: --view needs NAME (dwell report --help)
[2]

$ dwell report train.dwell -x
2> dwell: no option '-x' (dwell report --help lists all)
[2]

$ dwell report nosteps.dwell --view steps
2> dwell: nosteps.dwell has no steps: mark each iteration with DWELL_STEP() or dwell_step(), in Python dwell.step(), or record with dwell run --step-on NAME
[1]

$ dwell report nosteps.dwell --steps 1..2
2> dwell: nosteps.dwell has no steps: mark them with DWELL_STEP() or dwell_step(), in Python dwell.step(), or record with dwell run --step-on NAME
[1]

$ dwell report nosteps.dwell --view operators
2> dwell: nosteps.dwell has no operators: mark them with DWELL_OP("name"), or see --view actions
[1]

$ dwell report -o out.csv -f csv -v phases train.dwell && head -2 out.csv
phase,where,total_ns,per_step_ns,share,loop_share
forward,steps,320900000,8022500,0.314762138,0.337292411

$ dwell report -o missing/out.csv train.dwell
2> dwell: cannot write missing/out.csv: No such file or directory
[1]

$ ln -s /dev/full full && dwell report train.dwell -v steps -n all -o full
2> dwell: cannot write the report: No space left on device
[1]

$ test -L full && test -c full && rm full && dwell report train.dwell -v steps -n all > /dev/full
2> dwell: cannot write the report: No space left on device
[1]

$ echo before > kept && dwell report train.dwell -v zzz -o kept; cat kept; ls kept*
before
kept
2> dwell: no view 'zzz' (dwell report --help lists all)

$ dwell report train.dwell -v threads -o kept && head -1 kept && ls kept*
thread        pid   tid  records  ranges   first   last   busy  busy share  lost
kept

$ dwell report train.dwell --view steps --limit all | head -1
40 steps in 951 ms, 23.8 ms a step (p50 20.1, p95 60.1, p99 123.1).

$ dwell report --format=csv --view=threads -- train.dwell | tail -1
loader,4711,4712,168,84,47000000,949000000,861000000,0.954545455,0,0,1

# A copy that was cut short: recovered, said, and no error.
$ head -c 140000 train.dwell > torn.dwell && dwell report torn.dwell --view threads
thread        pid   tid  records  ranges   first   last   busy  busy share  lost
train        4711  4711      812     406  5.00ms  1.02s  968ms       95.5%     0
loader       4711  4712        0       0       0      0      0                 0
all threads                  812     406                                       0
2> dwell: torn.dwell is a truncated copy (119 KiB of 256 KiB are missing; copy it again): recovered 406 ranges, the last at 1.0 s; 0 ranges were open
