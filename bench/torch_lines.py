#!/usr/bin/python3
"""What source lines cost an operator of PyTorch.

usage: torch_lines.py BUILD [ROUNDS]

Each round is a process under dwell, on one core. It runs a loop of one small operator many times, then ends
the keeping of lines as the end of the program does, and runs the loop as often again. The fastest passes of
both halves are compared. Prints the median and the quartiles of the rounds, in ns and as multiples of a
reading of the time stamp counter.

Exit status 0; 77: no PyTorch here.
"""
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time

PASSES, LOOPS = 60, 10000


def measure(build):
    import atexit
    register, ends = atexit.register, []
    atexit.register = lambda function, *arguments: (ends.append(function), register(function, *arguments))[1]
    import torch
    torch.set_num_threads(1)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    x, one = torch.ones(1), torch.ones(1)

    def loop():
        start = time.perf_counter()
        for _ in range(LOOPS):
            x.add_(one)
        return (time.perf_counter() - start) / LOOPS * 1e9

    for _ in range(PASSES // 4):
        loop()
    with_lines = min(loop() for _ in range(PASSES))
    next(end for end in ends if getattr(end, "__name__", "") == "dwell_places_at_exit")()
    without = min(loop() for _ in range(PASSES))
    library = ctypes.CDLL(os.path.join(build, "bench", "libtorch_empty.so"))
    library.empty_reading_ps.restype = ctypes.c_uint64
    print("RESULT", with_lines, without, library.empty_reading_ps() / 1e3)


def main():
    try:
        import torch
    except ImportError as error:
        print(f"skip torch_lines: {error}")
        return 77
    build, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 11
    costs, readings = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([os.path.join(build, "dwell"), "run", "-o", os.path.join(folder, "t.dwell"), "--max-size", "8M",
                                   "--keep", "newest", "--no-memory", sys.executable, __file__, "--measure", build],
                                  capture_output=True, text=True, check=True)
        result = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
        with_lines, without, reading = map(float, result.split()[1:])
        costs.append(with_lines - without)
        readings.append(reading)
    reading, cost = statistics.median(readings), statistics.median(costs)
    low, _, high = statistics.quantiles(costs, n=4)
    print(f"PyTorch {torch.__version__}, ns an operator, {rounds} rounds; a reading of the clock takes {reading:.1f} ns")
    print(f"source lines: {cost:.1f} ns (quartiles {low:.1f} and {high:.1f}), {cost / reading:.2f} readings")
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--measure":
        measure(sys.argv[2])
    elif len(sys.argv) in (2, 3):
        sys.exit(main())
    else:
        sys.exit(__doc__)
