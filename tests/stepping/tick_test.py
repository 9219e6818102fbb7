#!/usr/bin/env python3
"""The sampler's signal at each instruction of malloc, dlopen and others: runs tick_steps under `dwell run`'s environment.

usage: tick_test.py BUILD [OPTION...]      options are passed to tick_steps; last line: N passed, N failed
"""
import os
import platform
import subprocess
import sys
import tempfile

# The tracer is not sampled itself: it waits for each step of the program.
APART = 'STEP_PRELOAD=$LD_PRELOAD; export STEP_PRELOAD; unset LD_PRELOAD; exec "$@"'


def main():
    build, options = os.path.abspath(sys.argv[1]), sys.argv[2:]
    if platform.machine() != "x86_64":
        print("skip ticks: it is written for x86-64")
        return 77
    tests = os.path.join(build, "tests/stepping")
    with tempfile.TemporaryDirectory() as folder:
        command = [os.path.join(build, "dwell"), "run", "--sample", "1000", "-o", os.path.join(folder, "trace.dwell"), "--",
                   "/bin/sh", "-c", APART, "sh", os.path.join(tests, "tick_steps"), os.path.join(tests, "stepped"), *options]
        done = subprocess.run(command, cwd=folder, timeout=3600).returncode
        return done or has_samples(os.path.join(build, "dwell"), os.path.join(folder, "trace.dwell"))


def has_samples(dwell, trace):
    """0 if handlers of the run recorded something: else they returned early, and nothing was tested."""
    done = subprocess.run([dwell, "report", "--view", "hot", "--format", "csv", trace], capture_output=True, text=True)
    if "stepped_compute" in done.stdout:
        return 0
    print("FAILED the trace has no samples of the thread that computes:", done.stdout[:500], done.stderr)
    print("0 passed, 1 failed")
    return 1


if __name__ == "__main__":
    sys.exit(main())
