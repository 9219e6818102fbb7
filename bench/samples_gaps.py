#!/usr/bin/env python3
"""What samples of call stacks cost a thread, in CPU time: interruptions with each way of sampling and without, in turn.

usage: samples_gaps.py BUILD [PAIRS]
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile

build, pairs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 9
WAYS = {"by default": [], "250 samples a second": ["--sample", "250"], "perf events by default": ["--sample", "perf"],
        "perf events, 250 a second": ["--sample", "perf:250"]}


def interrupted(folder, options):
    """In us a second of CPU time; and how often a second."""
    ran = subprocess.run([os.path.join(build, "dwell"), "run", "-o", os.path.join(folder, "t.dwell"), *options,
                          os.path.join(build, "bench/bench_samples"), "gaps"], capture_output=True, text=True, check=True)
    return [float(number) for number in re.search(r"interrupted for ([\d.]+) us a second of CPU time, (\d+) times", ran.stdout).groups()]


with tempfile.TemporaryDirectory() as scratch:
    runs = [[interrupted(scratch, options) for options in (["--sample", "off"], *WAYS.values())] for _ in range(pairs)]
for at, way in enumerate(WAYS, 1):
    costs = sorted((run[at][0] - run[0][0]) / 1e4 for run in runs)
    print(f"{way}, 80 frames deep: {statistics.median(costs):.2f}% of CPU time, from {costs[0]:.2f}% to {costs[-1]:.2f}% in {pairs} pairs")
print(f"interruptions without samples: {statistics.median(run[0][1] for run in runs):.0f} a second; "
      f"with 250: {statistics.median(run[2][1] for run in runs):.0f} a second")
