#!/usr/bin/env python3
"""Threads, children and programs that do nothing: what recording adds to them, and that the report says it.

usage: begins_test.py BUILD      last line: N passed, N failed, N skipped

What is compared are counts: how many began, the calls of the kernel that strace sees, the instructions that valgrind counts, pages.
Times depend on the machine: they are printed, and only a defect of orders of magnitude fails by them.
"""
import collections
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import counts

BUILD = os.path.abspath(sys.argv[1])
DWELL = os.path.join(BUILD, "dwell")
# What dwell adds to a thread's begin and end: a timer of its CPU time, a stack for the timer's signal, and the signals that are
# blocked meanwhile.
ADDED_CALLS = {"timer_create": 1, "timer_settime": 1, "timer_delete": 1, "clock_gettime": 1, "sigaltstack": 3, "rt_sigaction": 1,
               "rt_sigprocmask": 2, "getpid": 2, "gettid": 1}
ADDED_INSTRUCTIONS = 4000  # twice what gcc 12 makes of it: another compiler and libc differ less
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "begins_program.c")
passed = failed = skipped = 0


def check(what, good, *more):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what, *more)


def skip(what):
    global skipped
    skipped += 1
    print(f"skip {what}")


def pairs(program, kind, count, trace):
    """Medians of runs without and with dwell: {"cpu_ns", "result"} of each, and how long the last run took, of which the trace is."""
    runs = {"plain": [], "recorded": []}
    for _ in range(3):
        for way, before in (("plain", []), ("recorded", [DWELL, "run", "-o", trace, "--"])):
            begun = time.monotonic_ns()
            out = subprocess.run([*before, program, kind, str(count)], capture_output=True, text=True, check=True).stdout
            runs[way].append(json.loads(out))
            took_ns = time.monotonic_ns() - begun
    return *({name: statistics.median(run[name] for run in runs[way]) for name in ("cpu_ns", "result")} for way in runs), took_ns


def begins(trace):
    """What the trace's file says: how many began, and the work in ns."""
    told = subprocess.run([DWELL, "info", trace], capture_output=True, text=True, check=True).stdout
    found = re.search(r"^begins +([\d,]+) of .* took ([\d.]+) (ns|us|ms|s)$", told, re.M)
    units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    return int(found.group(1).replace(",", "")), float(found.group(2)) * units[found.group(3)]


def measure(program, trace, kind, count):
    """Prints how much CPU time one thread, child or program adds under dwell run. Returns the medians without and with dwell, and how
    many the trace counted."""
    plain, recorded, took_ns = pairs(program, kind, count, trace)
    began, work_ns = begins(trace)
    added_ns = recorded["cpu_ns"] - plain["cpu_ns"]
    print(f"{kind}: {plain['cpu_ns'] / count / 1000:.1f} us each alone, {added_ns / count / 1000:.1f} us more under dwell run, "
          f"of which the trace says {work_ns / count / 1000:.1f} us")
    check(f"{kind}: their work is said", 0.02 * added_ns < work_ns < took_ns, work_ns, added_ns, took_ns)
    return plain, recorded, began


def counted(program, trace):
    """What a thread takes, in counts."""
    ways = [], [DWELL, "run", "-o", trace, "--"]
    alone, recorded = (counts.kernel_calls_of_threads(before, program, "threads", 300) for before in ways)
    if alone is None or recorded is None:
        skip("calls of the kernel: strace is not installed, or may trace nothing here")
    else:
        added = recorded - alone
        print(f"threads: {alone.total()} calls of the kernel each alone, {added.total()} more under dwell run")
        check("a thread makes no more calls of the kernel than are known", not added - collections.Counter(ADDED_CALLS), added)
    alone, recorded = (counts.instructions_each(before, program, "threads", (200, 600)) for before in ways)
    if alone is None:
        skip("instructions: valgrind is not installed")
    else:
        print(f"threads: {alone:.0f} instructions each alone, {recorded - alone:.0f} more under dwell run")
        check("a thread executes few instructions more", 0 < recorded - alone < ADDED_INSTRUCTIONS, alone, recorded)


def threads(program, trace):
    _, recorded, began = measure(program, trace, "threads", 10000)
    check("each thread is counted", began == 10001, began)
    check("they share few stacks for signals", 1 <= recorded["result"] <= 16, recorded)
    text = " ".join(subprocess.run([DWELL, "report", trace], capture_output=True, text=True, check=True).stdout.split())
    cost = re.search(r"profiling cost about ([\d.]+)%", text)
    check("profiling cost has it", cost and float(cost.group(1)) >= 0.5, text)


def children(program, trace):
    plain, recorded, began = measure(program, trace, "children", 1000)
    check("each child is counted", began == 1001, began)
    check("a child has few pages of its own more", recorded["result"] - plain["result"] <= 32, recorded, plain)


def programs(program, trace):
    *_, began = measure(program, trace, "programs", 100)
    check("each program is counted, and the fork before it", began == 201, began)


with tempfile.TemporaryDirectory() as scratch:
    binary, file = os.path.join(scratch, "begins_program"), os.path.join(scratch, "t.dwell")
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O1", "-g", "-pthread", "-o", binary, SOURCE], check=True)
    threads(binary, file)
    counted(binary, file)
    children(binary, file)
    programs(binary, file)
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed != 0)
