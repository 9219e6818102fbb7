#!/usr/bin/env python3
"""How much longer a program takes to start under `dwell run`: `true`, Python, `import torch`, in pairs that alternate.

usage: bench/start_up.py BUILD PYTHON [PAIRS]        PYTHON has PyTorch; 7 pairs
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time


def seconds(*command):
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def print_pairs(name, command, run, pairs):
    alone, under = [], []
    for way in (command, run + command):
        seconds(*way)  # the files come into the page cache
    for i in range(pairs):
        for times, way in ((alone, command), (under, run + command))[::1 if i % 2 else -1]:
            times.append(seconds(*way))
    without, recorded = statistics.median(alone), statistics.median(under)
    added = statistics.median(later - before for before, later in zip(alone, under))
    unit, times = ("s", 1) if without > 0.5 else ("ms", 1000)
    print(f"{name}: {without * times:.2f} {unit} alone, {recorded * times:.2f} {unit} under dwell run, {added * times:.2f} {unit} more "
          f"(medians of {pairs} pairs)")


def main():
    build, python = os.path.abspath(sys.argv[1]), sys.argv[2]
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    with tempfile.TemporaryDirectory() as folder:
        run = [os.path.join(build, "dwell"), "run", "-o", os.path.join(folder, "t.dwell"), "--"]
        for name, command, most in (("true", ["true"], 10), ("python -c pass", [python, "-c", "pass"], 10),
                                    ("import torch", [python, "-c", "import torch"], 1)):
            print_pairs(name, command, run, pairs * most)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main()
