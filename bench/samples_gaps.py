#!/usr/bin/env python3
"""What samples of call stacks cost a thread, in CPU time: interruptions with 250 samples a second and without, in turn.

usage: samples_gaps.py BUILD [PAIRS]
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile

build, pairs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 9


def interrupted(folder, hz):
    """In us a second of CPU time; and how often a second."""
    ran = subprocess.run([os.path.join(build, "dwell"), "run", "-o", os.path.join(folder, "t.dwell"), "--sample", hz,
                          os.path.join(build, "bench/bench_samples"), "gaps"], capture_output=True, text=True, check=True)
    return [float(number) for number in re.search(r"interrupted for ([\d.]+) us a second of CPU time, (\d+) times", ran.stdout).groups()]


with tempfile.TemporaryDirectory() as scratch:
    runs = [(interrupted(scratch, "off"), interrupted(scratch, "250")) for _ in range(pairs)]
costs = sorted((on[0] - off[0]) / 1e4 for off, on in runs)
rates = [on[1] for _, on in runs]
print(f"250 samples a second, 80 frames deep: {statistics.median(costs):.2f}% of CPU time, from {costs[0]:.2f}% to {costs[-1]:.2f}% in {pairs} pairs")
print(f"interruptions without samples: {statistics.median(off[1] for off, _ in runs):.0f} a second; with: {statistics.median(rates):.0f} a second")
