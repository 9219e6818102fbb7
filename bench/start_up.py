#!/usr/bin/env python3
"""How much longer a program takes to start under `dwell run`, in pairs that alternate: `true`, Python, `import torch`,
and a worker of a DataLoader that is spawned, until its first batch has come.

usage: bench/start_up.py BUILD PYTHON [PAIRS]        PYTHON has PyTorch; 7 pairs
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

SPAWN = """
import statistics, time, torch
class Rows(torch.utils.data.Dataset):
    def __len__(self): return 4
    def __getitem__(self, i): return i
if __name__ == "__main__":
    times = []
    for _ in range(3):
        began = time.monotonic()
        batches = iter(torch.utils.data.DataLoader(Rows(), num_workers=1, multiprocessing_context="spawn"))
        next(batches)
        times.append(time.monotonic() - began)
        list(batches)
    print(statistics.median(times))
"""


def run_seconds(*command):
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def printed_seconds(*command):
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.split()[0])


def print_pairs(name, command, run, pairs, seconds=run_seconds):
    alone, under = [], []
    for way in (command, run + command):
        seconds(*way)  # the files come into the page cache
    for i in range(pairs):
        for times, way in ((alone, command), (under, run + command))[::1 if i % 2 else -1]:
            times.append(seconds(*way))
    without, recorded = statistics.median(alone), statistics.median(under)
    added = statistics.median(later - before for before, later in zip(alone, under))
    unit, times, digits = ("s", 1, 3) if without > 0.5 else ("ms", 1000, 2)
    print(f"{name}: {without * times:.2f} {unit} alone, {recorded * times:.2f} {unit} under dwell run, {added * times:.{digits}f} {unit} more "
          f"(medians of {pairs} pairs)")


def main():
    build, python = os.path.abspath(sys.argv[1]), sys.argv[2]
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    with tempfile.TemporaryDirectory() as folder:
        run = [os.path.join(build, "dwell"), "run", "-o", os.path.join(folder, "t.dwell"), "--"]
        for name, command, most in (("true", ["true"], 10), ("python -c pass", [python, "-c", "pass"], 10),
                                    ("import torch", [python, "-c", "import torch"], 1)):
            print_pairs(name, command, run, pairs * most)
        script = os.path.join(folder, "spawn.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(SPAWN)
        print_pairs("a spawned worker", [python, script], run, pairs, printed_seconds)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main()
