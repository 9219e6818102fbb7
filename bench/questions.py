#!/usr/bin/env python3
"""How long `dwell query` and `dwell diff` take for a trace of 10,000,000 ranges in 1,000 steps.

usage: bench/questions.py BUILD FOLDER        needs BUILD/bench/reader_speed, which makes the trace in FOLDER
"""
import os
import statistics
import subprocess
import sys
import time

GROUP = "select name, count(*), sum(duration_ns) from ranges "


def main(build, folder):
    traces = [os.path.join(folder, f"questions{i}.dwell") for i in range(2)]
    for trace in traces:
        subprocess.run([os.path.join(build, "bench/reader_speed"), "10000000", trace, "1", "1000"], check=True, stdout=subprocess.DEVNULL)
    dwell = os.path.join(build, "dwell")
    for name, command in (("count", ["query", traces[0], "select count(*) from ranges"]),
                          ("group", ["query", traces[0], GROUP + "group by name"]),
                          ("group of a step", ["query", traces[0], GROUP + "where step = 500 group by name"]),
                          ("diff", ["diff", *traces])):
        times = []
        for _ in range(4):
            began = time.monotonic()
            subprocess.run([dwell, *command], check=True, stdout=subprocess.DEVNULL)
            times.append(time.monotonic() - began)
        print(f"{name}: {statistics.median(times[1:]):.2f} s", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
