#!/usr/bin/env python3
"""Threads, children and programs that do nothing: what recording adds to them, and that the report says it.

usage: begins_test.py BUILD      last line: N passed, N failed

The truth is the CPU time of the same program without and with dwell, in pairs.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
DWELL = os.path.join(BUILD, "dwell")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "begins_program.c")
passed = failed = 0


def check(what, good, *more):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what, *more)


def pairs(program, kind, count, trace):
    """Medians of runs without and with dwell: {"cpu_ns", "result"} of each."""
    runs = {"plain": [], "recorded": []}
    for _ in range(5):
        for way, before in (("plain", []), ("recorded", [DWELL, "run", "-o", trace, "--"])):
            out = subprocess.run([*before, program, kind, str(count)], capture_output=True, text=True, check=True).stdout
            runs[way].append(json.loads(out))
    return ({name: statistics.median(run[name] for run in runs[way]) for name in ("cpu_ns", "result")} for way in runs)


def begins(trace):
    """What the trace's file says: how many began, and the work in ns."""
    told = subprocess.run([DWELL, "info", trace], capture_output=True, text=True, check=True).stdout
    found = re.search(r"^begins +([\d,]+) of .* took ([\d.]+) (ns|us|ms|s)$", told, re.M)
    units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    return int(found.group(1).replace(",", "")), float(found.group(2)) * units[found.group(3)]


def measure(program, trace, kind, count):
    """Prints how much CPU time one thread, child or program adds under dwell run. Returns the medians without and with dwell, the CPU
    time added to all of them, how many the trace counted, and the time that it says."""
    plain, recorded = pairs(program, kind, count, trace)
    began, work_ns = begins(trace)
    added_ns = recorded["cpu_ns"] - plain["cpu_ns"]
    print(f"{kind}: {plain['cpu_ns'] / count / 1000:.1f} us each alone, {added_ns / count / 1000:.1f} us more under dwell run, "
          f"of which the trace says {work_ns / count / 1000:.1f} us")
    return plain, recorded, added_ns, began, work_ns


def threads(program, trace):
    plain, recorded, added_ns, began, work_ns = measure(program, trace, "threads", 20000)
    check("each thread is counted", began == 20001, began)
    check("recording adds less than half of what a thread costs", added_ns < 0.5 * plain["cpu_ns"], added_ns, plain)
    check("their work is said", 0.4 * added_ns < work_ns < 2 * added_ns, work_ns, added_ns)
    check("they share few stacks for signals", 1 <= recorded["result"] <= 16, recorded)
    text = " ".join(subprocess.run([DWELL, "report", trace], capture_output=True, text=True, check=True).stdout.split())
    cost = re.search(r"profiling cost about ([\d.]+)%", text)
    check("profiling cost has it", cost and float(cost.group(1)) >= 0.5, text)


def children(program, trace):
    plain, recorded, _, began, work_ns = measure(program, trace, "children", 1000)
    check("each child is counted", began == 1001, began)
    check("their work is said", work_ns > 1000 * 2000, work_ns)
    check("a child has few pages of its own more", recorded["result"] - plain["result"] <= 32, recorded, plain)


def programs(program, trace):
    *_, began, work_ns = measure(program, trace, "programs", 100)
    check("each program is counted, and the fork before it", began == 201, began)
    check("their work is said", work_ns > 100 * 10000, work_ns)


with tempfile.TemporaryDirectory() as scratch:
    binary, file = os.path.join(scratch, "begins_program"), os.path.join(scratch, "t.dwell")
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O1", "-g", "-pthread", "-o", binary, SOURCE], check=True)
    threads(binary, file)
    children(binary, file)
    programs(binary, file)
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
