#!/usr/bin/env python3
"""Python's functions: `dwell export --format pstats` against cProfile, on the same program.

usage: pstats_test.py BUILD

Recursion, mutual recursion, generators, exceptions, C functions: calls, primitive calls and
callers must be the same, with C functions and without. Ranges that outlive the function that they began in (a context
manager's __enter__) have their own times, and so do the functions.
The last line is "N passed, N failed".
"""
import json
import os
import pstats
import subprocess
import sys
import tempfile

PROGRAM = """
import sys
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def even(n): return True if n == 0 else odd(n - 1)
def odd(n): return False if n == 0 else even(n - 1)
def numbers(n):
    for i in range(n): yield i
def fail(n):
    if n == 0: raise ValueError
    fail(n - 1)
class Sorter:
    def sort(self, k): return sorted(range(k), key=lambda x: -x)
def main():
    fib(15); even(30); sum(numbers(50)); Sorter().sort(40)
    for _ in range(20):
        try: fail(4)
        except ValueError: pass
if __name__ == "__main__":
    if len(sys.argv) == 1: main()
    else:
        import cProfile
        profile = cProfile.Profile(); profile.runcall(main); profile.dump_stats(sys.argv[1])
"""

OUTLIVING = """
import contextlib, sys, time
sys.path.insert(0, sys.argv[1])
import dwell
from dwell.lightning import SimpleProfiler
dwell.record_function
profiler = SimpleProfiler()
@contextlib.contextmanager
def around(name):
    with dwell.record_function(name): yield
class Held:
    def __enter__(self): enter()
    def __exit__(self, *unused): leave()
def enter(): start_held()
def leave(): stop_held(); nap()
def start_held(): profiler.start("held")
def stop_held(): profiler.stop("held")
def nap(): time.sleep(0.02)
def first(): profiler.start("over"); nap()
def second(): nap(); profiler.stop("over"); nap()
def main():
    with around("zone"): nap()
    with Held(): nap(); nap()
    with profiler.profile("block"): nap()
    first(); second()
    profiler.start("a"); profiler.start("b"); nap(); profiler.stop("a"); nap(); profiler.stop("b")
main()
"""
DEEP = """
import sys
sys.setrecursionlimit(int(sys.argv[1]))
def down(n):
    try: return down(n + 1)
    except RecursionError: return n
print(down(0))
"""
NAPS = {"zone": 1, "held": 2, "block": 1, "over": 2, "a": 1, "b": 2, "nap": 1, "first": 1, "second": 2,
        "enter": 0, "leave": 1, "start_held": 0, "stop_held": 0, "around": 0}


def counts_of(path, start):
    """By line and name: primitive calls, calls, and those of each caller."""
    def known(function):
        return function[0].endswith("program.py") and function[1] >= start

    def key(function):
        return function[1], function[2].rpartition(".")[2]  # cProfile leaves out the class

    return {key(function): (row[0], row[1], {key(caller): counts[:2] for caller, counts in row[4].items()
                                             if known(caller) and "module" not in caller[2]})
            for function, row in pstats.Stats(path).stats.items()
            if known(function) and "module" not in function[2] and key(function)[1] != "Sorter"}


def outliving(build, dwell, option):
    """Failures; each name's longest call must be its naps."""
    with open("outliving.py", "w", encoding="utf-8") as file:
        file.write(OUTLIVING)
    folders = [build, os.path.join(build, "src", "profiler")]
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run([dwell, "run", option, "-o", "outliving.dwell", sys.executable, "outliving.py",
                    os.path.join(here, "..", "..", "python")], check=True, capture_output=True,
                   env={**os.environ, "LD_LIBRARY_PATH": ":".join(folders)})
    subprocess.run([dwell, "export", "--format", "chrome", "-o", "outliving.json", "outliving.dwell"], check=True)
    times, begun = {}, {}
    with open("outliving.json", encoding="utf-8") as file:
        for event in json.load(file)["traceEvents"]:
            if event["ph"] == "X":
                times.setdefault(event["name"], []).append(event["dur"])
            elif event["ph"] == "b":  # what does not nest is written so
                begun[event["name"], event["id"]] = event["ts"]
            elif event["ph"] == "e":
                times.setdefault(event["name"], []).append(event["ts"] - begun[event["name"], event["id"]])
    nap = sum(times["nap"]) / len(times["nap"])
    longest = {name: max(durations) / nap for name, durations in times.items()}
    failed = 0
    for name, naps in NAPS.items():
        if not naps - 0.4 <= longest.get(name, -1) < naps + 0.4:
            failed += 1
            print(f"FAILED: {option}: {name}: {longest.get(name)} naps, not {naps}")
    return failed


def deep(dwell, option):
    """Failures of a recursion to the limit, and far beyond what is recorded."""
    failed = 0
    # Until 3.10 every call nests on the C stack.
    for limit in ("1000", "50000") if sys.version_info >= (3, 11) else ("1000",):
        commands = ([], [dwell, "run", option, "-o", "deep.dwell"])
        plain, under = (subprocess.run([*command, sys.executable, "-c", DEEP, limit], capture_output=True, text=True,
                                       check=False) for command in commands)
        if (under.returncode, under.stdout) != (0, plain.stdout):
            failed += 1
            print(f"FAILED: {option}: recursion to {limit}: {under.stdout} {under.stderr[-300:]}, not {plain.stdout}")
    return failed


def main():
    dwell = os.path.join(os.path.abspath(sys.argv[1]), "dwell")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("program.py", "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        subprocess.run([sys.executable, "program.py", "theirs"], check=True)
        theirs, checks, failed = counts_of("theirs", 2), 0, 0
        for option in ("--functions", "--functions=python"):
            subprocess.run([dwell, "run", option, "-o", "trace.dwell", sys.executable, "program.py"], check=True,
                           capture_output=True)
            subprocess.run([dwell, "export", "--format", "pstats", "-o", "ours", "trace.dwell"], check=True)
            ours = counts_of("ours", 2)
            # Where C functions are not recorded, their callers are what they call's.
            compared = 3 if option == "--functions" else 2
            for function in sorted(set(theirs) | set(ours)):
                wanted, got = (rows.get(function, ())[:compared] for rows in (theirs, ours))
                if wanted != got:
                    failed += 1
                    print(f"FAILED: {option}: {function}: cProfile {wanted}, dwell {got}")
            failed += outliving(os.path.dirname(dwell), dwell, option) + deep(dwell, option)
            checks += len(set(theirs) | set(ours)) + len(NAPS) + 2
    print(f"{checks - failed} passed, {failed} failed")
    return failed != 0 or len(theirs) < 8


sys.exit(main())
