#!/usr/bin/env python3
"""Speed of `dwell import` on Kineto's JSON, uncompressed and cached, on one core.

usage: import_speed.py DWELL TRACE.json.gz [REPEATS]

The wall time includes the start of the process and the trace that is written. Run it on a quiet machine.
The kernel's figure of a child's memory counts what this process had when it started the child, so it is
printed beside it: only a larger one is dwell's.
"""
import gzip
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def main():
    dwell, trace = os.path.abspath(sys.argv[1]), sys.argv[2]
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    with tempfile.TemporaryDirectory() as folder:
        plain, result = os.path.join(folder, "trace.json"), os.path.join(folder, "trace.dwell")
        with gzip.open(trace) as packed, open(plain, "wb") as file:
            shutil.copyfileobj(packed, file)
        size = os.path.getsize(plain)
        core = {min(os.sched_getaffinity(0))}
        seconds, most = [], 0
        for _ in range(repeats + 1):  # the first reads the file into the cache
            start = time.monotonic()
            process = subprocess.Popen([dwell, "import", plain, "-o", result], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL,
                                       preexec_fn=lambda: os.sched_setaffinity(0, core))
            _, status, usage = os.wait4(process.pid, 0)
            seconds.append(time.monotonic() - start)
            if status:
                sys.exit("dwell import failed")
            most = max(most, usage.ru_maxrss / 1024)
            os.unlink(result)
    rates = sorted(size / 1e6 / one for one in seconds[1:])
    print(f"{size / 1e6:.1f} MB: {statistics.median(rates):.0f} MB/s (from {rates[0]:.0f} to {rates[-1]:.0f}), "
          f"at most {most:.0f} MiB of memory (this program itself: "
          f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f})")


main()
