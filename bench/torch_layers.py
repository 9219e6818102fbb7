#!/usr/bin/python3
"""What recording costs a call of a PyTorch module, in readings of the clock.

usage: torch_layers.py BUILD [rounds]

A module that returns its argument is called within another. Each round runs every way
once, in a process of its own, one after the other; a process reports the fastest of forty
passes; the medians of the rounds are printed, and what each way adds to the plain call
in readings of the time stamp counter, measured in the same processes.

Exit status 0; 77: no PyTorch here.
"""
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time

PASSES, CALLS = 40, 2000
WAYS = (("plain", None), ("recorded", []), ("not chosen", ["--layers", "Other"]))


def fastest(loop):
    best = float("inf")
    for _ in range(PASSES):
        start = time.perf_counter_ns()
        loop()
        best = min(best, time.perf_counter_ns() - start)
    return best / CALLS


def measure(build):
    import torch

    class Same(torch.nn.Module):
        def forward(self, x):
            return x

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Same()

        def forward(self, _):
            inner = self.inner

            def loop():
                for i in range(CALLS):
                    inner(i)
            return fastest(loop)

    reading = ctypes.CDLL(os.path.join(build, "bench", "libtorch_empty.so")).empty_reading_ps
    reading.restype = ctypes.c_uint64
    with torch.no_grad():
        print("RESULT", Outer()(0), reading() / 1000)


def main():
    try:
        import torch
    except ImportError as error:
        print(f"skip torch_layers: {error}")
        return 77
    build, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    found, readings = {name: [] for name, _ in WAYS}, []
    for _ in range(rounds):
        for name, options in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, __file__, "--measure", build]
                if options is not None:
                    command = [os.path.join(build, "dwell"), "run", "-o", os.path.join(folder, "t.dwell"),
                               "--max-size", "64M", "--keep", "newest", "--no-memory", *options, *command]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
            line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
            found[name].append(float(line.split()[1]))
            readings.append(float(line.split()[2]))
    reading = statistics.median(readings)
    print(f"PyTorch {torch.__version__}, ns a call, medians of {rounds}; a reading of the clock {reading:.1f} ns")
    plain = statistics.median(found["plain"])
    for name, _ in WAYS:
        ns = statistics.median(found[name])
        print(f"{name:12} {ns:7.1f}" + (f" {ns - plain:7.1f} = {(ns - plain) / reading:.1f} readings"
                                        if name != "plain" else ""))
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--measure":
        measure(sys.argv[2])
    elif len(sys.argv) in (2, 3):
        sys.exit(main())
    else:
        sys.exit(__doc__)
