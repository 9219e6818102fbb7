#!/usr/bin/env python3
"""How much longer a Python script takes to start under `dwell run`: `import torch`, in pairs that alternate.

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


def main():
    build, python = os.path.abspath(sys.argv[1]), sys.argv[2]
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    alone, under = [], []
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "start.py")
        with open(script, "w", encoding="ascii") as file:
            file.write("import torch\n")
        ways = [(alone, [python, script]),
                (under, [os.path.join(build, "dwell"), "run", "-o", os.path.join(folder, "t.dwell"), "--", python, script])]
        for _, command in ways:
            seconds(*command)  # the files come into the page cache
        for i in range(pairs):
            for times, command in ways if i % 2 else ways[::-1]:
                times.append(seconds(*command))
    without, recorded = statistics.median(alone), statistics.median(under)
    added = statistics.median(later - before for before, later in zip(alone, under))
    print(f"import torch: {without:.2f} s alone, {recorded:.2f} s under dwell run, {added:.2f} s more "
          f"(medians of {pairs} pairs)")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main()
