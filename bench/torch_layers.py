#!/usr/bin/python3
"""What recording costs a call of a PyTorch module, in readings of the clock.

usage: torch_layers.py BUILD [rounds [TORCHPROF_FOLDER]]

A module that returns its argument is called within another. Each round runs every way
once, in a process of its own, one after the other; a process reports the fastest of forty
passes; the medians of the rounds are printed, and what each way adds to the plain call
in readings of the time stamp counter, measured in the same processes. With the folder
that has the package torchprof (tools/venv --packages torchprof), what it adds stands beside it.

Exit status 0; 77: no PyTorch here.
"""
import contextlib
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PASSES, CALLS = 40, 2000
WAYS = (("plain", None), ("recorded", []), ("not chosen", ["--layers", "Other"]))
PROFILES = (("dwell.torchprof", None), ("torchprof", None))


def fastest(loop, passes, calls):
    best = float("inf")
    for _ in range(passes):
        start = time.perf_counter_ns()
        loop(calls)
        best = min(best, time.perf_counter_ns() - start)
    return best / calls


def profile_of(way, model):
    if way == "dwell.torchprof":
        import dwell.torchprof as torchprof
    elif way == "torchprof":
        import torchprof
    else:
        return contextlib.nullcontext()
    return torchprof.Profile(model)


def measure(build, way):
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

            def loop(calls):
                for i in range(calls):
                    inner(i)
            # torchprof starts and stops a profiler in each call.
            return fastest(loop, *((5, 100) if way == "torchprof" else (PASSES, CALLS)))

    reading = ctypes.CDLL(os.path.join(build, "bench", "libtorch_empty.so")).empty_reading_ps
    reading.restype = ctypes.c_uint64
    outer = Outer()
    with torch.no_grad(), profile_of(way, outer):
        print("RESULT", outer(0), reading() / 1000)


def main():
    try:
        import torch
    except ImportError as error:
        print(f"skip torch_layers: {error}")
        return 77
    build, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    ways = WAYS + (PROFILES if len(sys.argv) > 3 else ())
    paths = [os.path.join(HERE, "..", "python"), *map(os.path.abspath, sys.argv[3:])]
    environment = dict(os.environ, LD_LIBRARY_PATH=build, PYTHONPATH=os.pathsep.join(paths))
    found, readings = {name: [] for name, _ in ways}, []
    for _ in range(rounds):
        for name, options in ways:
            with tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, os.path.abspath(__file__), "--measure", build, name]
                if options is not None:
                    command = [os.path.join(build, "dwell"), "run", "-o", os.path.join(folder, "t.dwell"),
                               "--max-size", "64M", "--keep", "newest", "--no-memory", *options, *command]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=folder,
                                      env=environment)
            line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
            found[name].append(float(line.split()[1]))
            readings.append(float(line.split()[2]))
    reading = statistics.median(readings)
    print(f"PyTorch {torch.__version__}, ns a call, medians of {rounds}; a reading of the clock {reading:.1f} ns")
    plain = statistics.median(found["plain"])
    for name, _ in ways:
        ns = statistics.median(found[name])
        print(f"{name:15} {ns:9.1f}" + (f" {ns - plain:9.1f} = {(ns - plain) / reading:.1f} readings"
                                        if name != "plain" else ""))
    if "torchprof" in found:
        ours, theirs = (statistics.median(found[name]) - plain for name, _ in PROFILES)
        # What cannot be told from nothing counts as one reading.
        print(f"torchprof's to dwell.torchprof's: {theirs / max(ours, reading):.0f} x")
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--measure":
        measure(sys.argv[2], sys.argv[3])
    elif len(sys.argv) in (2, 3, 4):
        sys.exit(main())
    else:
        sys.exit(__doc__)
