# Compressed traces of other tools that are cut or damaged.

$ printf '{"traceEvents":[{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1,"dur":4,"args":{"stream":7}},\n{"ph":"X","cat":"kernel","name":"relu","pid":0,"tid":7,"ts":9,"dur":4,"args":{"stream":7}}]}' > whole.json

$ gzip -n < whole.json > whole.json.gz; dwell report --view kernels --format csv whole.json.gz | cut -d , -f 1-3 | head -n 2
family,calls,total_ns
matmul,1,4000

$ head -c 100 whole.json.gz > cut.json.gz; dwell report --view kernels --format csv cut.json.gz | cut -d , -f 1-3 | head -n 2
2> dwell: cut.json.gz: the compressed data are damaged or end too early at line 1, column 17; what lies before is here
2> dwell: cut.json.gz has no events of devices: import a trace of a run on GPUs: dwell report FILE reads Kineto's JSON

$ head -c 12 whole.json.gz > head.json.gz; dwell report head.json.gz
2> dwell: head.json.gz is not a dwell trace: it looks like gzip: no trace can be read in it. Copy it again, or gunzip it first
[1]

$ { head -c 40 whole.json.gz; printf 'XXXXXXXX'; tail -c +49 whole.json.gz; } > bad.json.gz; dwell report --view kernels bad.json.gz
2> dwell: bad.json.gz is not a dwell trace: it looks like gzip: no trace can be read in it. Copy it again, or gunzip it first
[1]

# What is in a compressed file is named.

$ echo hello | gzip -n > text.gz; dwell report text.gz
2> dwell: text.gz is not a dwell trace: it is compressed with gzip; unpacked, it looks like text
[1]

$ dwell export --format pprof whole.json -o whole.pprof.gz; dwell report whole.pprof.gz
2> dwell: whole.pprof.gz is not a dwell trace: it is compressed with gzip; unpacked, it is a profile of pprof, which has sums without times: pprof shows it. If dwell exported it, name the trace itself
[1]
