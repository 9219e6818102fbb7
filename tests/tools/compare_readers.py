#!/usr/bin/env python3
"""Two readers must agree: compare_readers.py MKTRACE FLATCSV SECOND_READER TEXT...

Compares what the C reader and second_reader.py read from the given traces and from random
ones (fixed seeds) with gaps, thread switches, ranges left open and cut files.
"""
import os
import random
import subprocess
import sys
import tempfile

mktrace, flatcsv, second = sys.argv[1:4]


def make_random(seed):
    r = random.Random(seed)
    lines = ["process 1 pid=2147483646"]
    for t in range(1, 4):
        lines += ["thread %d process=1 tid=%d" % (t, t), "stream %d thread=%d" % (t, t)]
    for _ in range(r.randrange(20, 3000)):
        if r.random() < 0.05:
            lines.append("use %d" % r.randrange(1, 4))
        what = r.random()
        step = "+%d" % r.choice([0, 7, 1000, 10 ** 6, 3 * 10 ** 9 if r.random() < 0.1 else 5])
        if what < 0.48:
            lines.append("%s begin %s n%d" % (step, r.choice(["operator", "operator", "layer"]),
                                              r.randrange(20)))
            if seed % 3 == 0 and r.random() < 0.1:
                lines.append("+0 by-name")
        elif what < 0.93:
            lines.append("%s end" % step)
            if seed % 3 and r.random() < 0.2:
                lines[-1] = "%s end-of %d" % (step, r.randrange(4))
            elif seed % 3 == 0 and r.random() < 0.3:
                lines[-1] = "%s end-named operator n%d" % (step, r.randrange(20))
        elif what < 0.96:
            lines.append("%s counter c %d" % (step, r.randrange(9)))
        elif what < 0.97:
            lines.append("gap %d" % r.randrange(1, 4))
        elif what < 0.98:
            lines.append("close")
        elif what < 0.99:
            lines.append("%s mark m" % step)
    if r.random() < 0.5:
        lines.append("kill")
    return "\n".join(lines) + "\n"


def answer(*command):
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [out[0]] + sorted(out[1:])


texts = [open(path).read() for path in sys.argv[4:]] + [make_random(seed) for seed in range(8 if os.environ.get("DWELL_TEST_SLOW") else 30)]
with tempfile.TemporaryDirectory() as folder:
    trace = os.path.join(folder, "t.dwell")
    for number, text in enumerate(texts):
        subprocess.run([mktrace, "-", trace], input=text, text=True, check=True)
        one, other = answer(flatcsv, trace), answer(sys.executable, second, trace)
        if one != other:
            print("trace %d: the readers differ" % number)
            for a, b in zip(one, other):
                if a != b:
                    print("  C: %s\n  Python: %s" % (a, b))
            sys.exit(1)
print("%d traces, one answer" % len(texts))
