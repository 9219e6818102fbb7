#!/usr/bin/env python3
"""What calls of libc take more under dwell run, of functions that the sampler is in front of.

usage: interposed.py BUILD [TURNS]
"""
import os
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
TURNS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
PROGRAM = os.path.join(BUILD, "bench/bench_interposed")
FIRST_THAT_ENTERS = "read"


def least(command):
    """The fastest of some runs, by call."""
    found = {}
    for _ in range(TURNS):
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
        for line in done.stdout.splitlines():
            name, ns = line.split()
            found[name] = min(float(ns), found.get(name, float("inf")))
    return found


def main():
    with tempfile.TemporaryDirectory() as folder:
        alone = least([PROGRAM])
        under = least([os.path.join(BUILD, "dwell"), "run", "-o", os.path.join(folder, "t.dwell"), "--", PROGRAM])
    names = list(alone)
    more = {name: under[name] - alone[name] for name in names}
    for name in names:
        print(f"{name}: {alone[name]:.1f} ns alone, {under[name]:.1f} ns under dwell run, {more[name]:.1f} ns more")
    at = names.index(FIRST_THAT_ENTERS)
    for what, these in (("answers without the kernel", names[:at]), ("passes to the kernel, without waiting", names[at:])):
        worst = max(these, key=more.get)
        print(f"a call that libc {what}: {more[worst]:.1f} ns more at most, {worst}")


main()
