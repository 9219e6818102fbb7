#!/usr/bin/env python3
"""Python's functions: `dwell export --format pstats` against cProfile, on the same program.

usage: pstats_test.py BUILD

Recursion, mutual recursion, generators, exceptions, C functions. Calls, primitive calls and
callers must be the same. The last line is "N passed, N failed".
"""
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


def main():
    dwell = os.path.join(os.path.abspath(sys.argv[1]), "dwell")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("program.py", "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        subprocess.run([sys.executable, "program.py", "theirs"], check=True)
        subprocess.run([dwell, "run", "--functions", "-o", "trace.dwell", sys.executable, "program.py"],
                       check=True, capture_output=True)
        subprocess.run([dwell, "export", "--format", "pstats", "-o", "ours", "trace.dwell"], check=True)
        theirs, ours = counts_of("theirs", 2), counts_of("ours", 2)
    failed = 0
    for function in sorted(set(theirs) | set(ours)):
        if theirs.get(function) != ours.get(function):
            failed += 1
            print(f"FAILED: {function}: cProfile {theirs.get(function)}, dwell {ours.get(function)}")
    print(f"{len(set(theirs) | set(ours)) - failed} passed, {failed} failed")
    return failed != 0 or len(theirs) < 8


sys.exit(main())
