#!/usr/bin/env python3
"""How many instructions the hot paths execute, counted by Valgrind, compared with kept numbers; and the memory of reports.

usage: count.py BUILD [--update]      last line: N passed, N failed

Times on a shared machine vary by a tenth; instructions do not. What a view has to do depends on the times in its trace: they are of
a clock that goes on evenly (even_clock.c). Each path runs twice with different numbers of records:
the difference is what a record takes. A path may take at most 2% more than kept.json says. If a change needs more,
--update writes the file, and the commit says why. The numbers are of one compiler: with another one nothing is checked.
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.path.join(HERE, "kept.json")
BUILD = os.path.abspath(sys.argv[1])
COST, DWELL = os.path.join(BUILD, "bench/bench_cost"), os.path.join(BUILD, "dwell")
MOST = 1.02
# by the names of bench/cost.c
PATHS = ("range", "library", "disabled", "step", "idle", "shapes", "stack", "counter", "alloc", "action")
# a view, of a trace of which path, what the path makes; how many of them
VIEWS = (("operators", "shapes", "operator", 50000), ("tree", "range", "range", 50000), ("steps", "step", "step", 5000),
         ("overview", "shapes", "operator without steps", 50000), ("overview", "stack", "operator of iterations that no step marks", 20000))
FEW, MANY = 20000, 60000  # records of a path
# which path makes how many ranges, and the MB of private memory with which their report must do: four million operators that do
# not repeat, and two million that are a million iterations (760 bytes each)
REPORTS = (("shapes", 4000000, 40), ("stack", 2000000, 800))


def count(folder, *command):
    """Instructions without those that read clocks: how often two clocks are compared depends on the time that passes."""
    out = os.path.join(folder, "callgrind.out")
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr[-500:]}")
    lines = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", out], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    functions = [re.match(r"\s*([\d,]+) \(.*?\)\s+(\S+:.*)", line) for line in lines]
    return sum(int(found[1].replace(",", "")) for found in functions if found and "clock" not in found[2])


def record(folder, path, records):
    """Makes a trace that is the same each time."""
    clock = os.path.join(folder, "even_clock.so")
    if not os.path.exists(clock):
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", clock, os.path.join(HERE, "even_clock.c")], check=True)
    subprocess.run([COST, folder, path, str(records)], stdout=subprocess.DEVNULL, check=True,
                   env=dict(os.environ, LD_PRELOAD=clock, DWELL_CLOCK="monotonic"))


def measure(folder):
    found = {}
    for path in PATHS:
        few, many = (count(folder, COST, folder, path, str(number)) for number in (FEW, MANY))
        found[path] = (many - few) / (MANY - FEW)
    for view, path, unit, number in VIEWS:
        counts = []
        for records in (number, 3 * number):
            record(folder, path, records)
            counts.append(count(folder, DWELL, "report", "--view", view, os.path.join(folder, "bench-0.dwell")))
        found[f"view {view}, for each {unit}"] = (counts[1] - counts[0]) / (2 * number)
    return {name: round(value, 1) for name, value in found.items()}


def report_within(folder, megabytes):
    """Whether the report needs no more: the kernel refuses what is beyond."""
    most = (megabytes << 20, megabytes << 20)
    done = subprocess.run([DWELL, "report", os.path.join(folder, "bench-0.dwell")], capture_output=True, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, most))
    return done.returncode == 0 and b"ranges" in done.stdout and b"memory ended" not in done.stderr


def compiler():
    text = subprocess.run(["readelf", "-p", ".comment", COST], capture_output=True, text=True, check=True).stdout
    return re.search(r"\]\s+(\S.*)", text)[1]


def main():
    passed = failed = 0
    with open(KEPT, encoding="utf-8") as file:
        kept = json.load(file)
    update = "--update" in sys.argv
    if compiler() != kept["compiler"] and not update:
        print(f"skip instructions: the kept numbers are of {kept['compiler']}, this build is of {compiler()}")
        print("0 passed, 0 failed")
        return
    with tempfile.TemporaryDirectory() as folder:
        found = measure(folder)
        for path, records, megabytes in REPORTS:
            record(folder, path, records)
            good = report_within(folder, megabytes)
            passed, failed = passed + good, failed + (not good)
            print(f"{'ok    ' if good else 'FAILED'} {path}: the report of {records:,} ranges within {megabytes} MB")
    for name, value in found.items():
        most = kept["instructions"].get(name, 0) * MOST + 0.5
        passed, failed = passed + (value <= most), failed + (value > most)
        print(f"{'ok    ' if value <= most else 'FAILED'} {name}: {value:.1f} instructions, kept {kept['instructions'].get(name)}")
    if update:
        with open(KEPT, "w", encoding="utf-8") as file:
            json.dump({"compiler": compiler(), "instructions": found}, file, indent=1)
            file.write("\n")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0 and not update)


main()
