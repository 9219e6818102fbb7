#!/usr/bin/python3
"""What source lines cost an operator of PyTorch: only the main thread has them.

usage: torch_lines.py BUILD [ROUNDS]

Each process runs the same loop of one small operator in its main thread and in another thread, in turn, on
one core, and reports the fastest pass of each. Under dwell the main thread keeps the line of its last
operator, and the other one does not; what the two differ by without dwell is subtracted. Prints medians of
the rounds, in ns and as multiples of a reading of the time stamp counter.

Exit status 0; 77: no PyTorch here.
"""
import concurrent.futures
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
    for end in ends:
        if getattr(end, "__name__", "") == "dwell_places_at_exit":
            end()
            ends = None
            break
    without = min(loop() for _ in range(PASSES))
    library = ctypes.CDLL(os.path.join(build, "bench", "libtorch_empty.so"))
    library.empty_reading_ps.restype = ctypes.c_uint64
    print("RESULT", with_lines, without, library.empty_reading_ps() / 1e3, int(ends is None))


def main():
    try:
        import torch
    except ImportError as error:
        print(f"skip torch_lines: {error}")
        return 77
    build, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    plain, lines, readings = [], [], []
    for _ in range(rounds):
        for values, dwell in ((plain, False), (lines, True)):
            with tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, __file__, "--measure", build]
                if dwell:
                    command = [os.path.join(build, "dwell"), "run", "-o", os.path.join(folder, "t.dwell"), "--max-size", "8M",
                               "--keep", "newest", "--no-memory", *command]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
            result = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
            here, there, reading = map(float, result.split()[1:])
            values.append(here - there)
            readings.append(reading)
    reading, costs = statistics.median(readings), [with_lines - without for without, with_lines in zip(plain, lines)]
    cost = statistics.median(costs)
    print(f"PyTorch {torch.__version__}, ns an operator, {rounds} rounds; a reading of the clock takes {reading:.1f} ns")
    print(f"main thread less another thread: {statistics.median(plain):.1f} without dwell, {statistics.median(lines):.1f} under dwell")
    print(f"source lines: {cost:.1f} ns ({min(costs):.1f} to {max(costs):.1f}), {cost / reading:.2f} readings")
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--measure":
        measure(sys.argv[2])
    elif len(sys.argv) in (2, 3):
        sys.exit(main())
    else:
        sys.exit(__doc__)
