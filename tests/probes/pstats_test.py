#!/usr/bin/env python3
"""Python's functions: `dwell export --format pstats` against cProfile, on the same program.

usage: pstats_test.py BUILD

Recursion, mutual recursion, generators, coroutines, exceptions, threads, C functions: calls,
primitive calls and callers must be the same, with --functions and, of Python's functions, with
--functions=python. Ranges that outlive the function that they began in (a context
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
class Answer:
    def __getitem__(self, i): return i + 1
    @property
    def size(self): return 3
    def __iter__(self): return iter(numbers(4))
def delegate():
    got = yield from numbers(7)
    try: yield 1
    except KeyError: yield 2
class Pause:
    def __await__(self): yield 1
async def inner(n):
    for _ in range(n): await Pause()
    return n
async def outer(): return await inner(5) + await inner(2)
async def flow():
    for i in range(6): yield i
async def take(): return [i async for i in flow()]
def drive(coroutine):
    try:
        while True: coroutine.send(None)
    except StopIteration as stop: return stop.value
def generators():
    for i in delegate(): pass
    thrown = delegate(); [next(thrown) for _ in range(8)]; thrown.throw(KeyError()); thrown.close()
    unfinished = numbers(9); next(unfinished); unfinished.close(); del unfinished
    numbers(3).close()
    drive(outer()); drive(take())
def subscripts(answer):
    for i in range(60): answer[i]; answer.size
    for i in answer: pass
def deep(n): return deep(n + 1)
def limit():
    try: deep(0)
    except RecursionError: pass
def main():
    fib(15); even(30); sum(numbers(50)); Sorter().sort(40); generators(); subscripts(Answer())
    for _ in range(20):
        try: fail(4)
        except ValueError: pass
if __name__ == "__main__":
    if len(sys.argv) == 1: main()
    else:
        import cProfile
        profile = cProfile.Profile(builtins=sys.argv[2] == "all"); profile.runcall(main); profile.dump_stats(sys.argv[1])
"""

OUTLIVING = """
import contextlib, json, sys, time
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
naps = []
def nap(): begin = time.perf_counter(); time.sleep(0.02); naps.append((begin * 1e6, time.perf_counter() * 1e6))
def first(): profiler.start("over"); nap()
def second(): nap(); profiler.stop("over"); nap()
def main():
    begin = time.perf_counter() * 1e6
    with around("zone"): nap()
    with Held(): nap(); nap()
    with profiler.profile("block"): nap()
    first(); second()
    profiler.start("a"); profiler.start("b"); nap(); profiler.stop("a"); nap(); profiler.stop("b")
    print(json.dumps([(begin, begin)] + naps + [(time.perf_counter() * 1e6,)]))
main()
"""
THREADS = """
import threading
def resident():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))
def f(): return sum(range(3))
def run(n):
    for _ in range(n):
        thread = threading.Thread(target=f); thread.start(); thread.join()
run(300); before = resident(); run(4000); print(resident() - before)
"""

INTERPRETERS = """
import sys
try: import _interpreters as interpreters
except ImportError:
    try: import _xxsubinterpreters as interpreters
    except ImportError: sys.exit(77)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
text = "def f(n): return n\\nclass A:\\n def __getitem__(self, i): return i\\n" \
       "for i in range(200): f(i); A()[i]; [x for x in range(3)]\\nimport gc; gc.collect()\\n" \
       "import sys\\nsys.path.insert(0, %r)\\ntry: import dwell\\nexcept ImportError: pass\\n" % sys.argv[1]
for kind in ((), ("legacy",), ("isolated",)):
    for _ in range(3):
        try: one = interpreters.create(*kind)
        except TypeError: continue
        try: interpreters.run_string(one, text)
        except Exception: pass
        interpreters.destroy(one)
print(fib(12))
"""

CLASSES = ("Sorter", "Answer", "Pause")
# By name, the naps of OUTLIVING that each of its calls contains: from one number to below another.
NAPS = {"zone": [(1, 2)], "held": [(2, 4)], "block": [(5, 6)], "over": [(6, 8)], "a": [(9, 10)], "b": [(9, 11)],
        "nap": [(nap, nap + 1) for nap in range(1, 11)], "first": [(6, 7)], "second": [(7, 9)], "enter": [(2, 2)],
        "leave": [(4, 5)], "start_held": [(2, 2)], "stop_held": [(4, 4)], "around": [(1, 1), (2, 2)]}
CLOCKS = 1.001  # both measure microseconds, and each in its own way


def counts_of(path, start):
    """By line and name: primitive calls, calls, and those of each caller."""
    def known(function):
        return function[0].endswith("program.py") and function[1] >= start

    def key(function):
        return function[1], function[2].rpartition(".")[2]  # cProfile leaves out the class

    return {key(function): (row[0], row[1], {key(caller): counts[:2] for caller, counts in row[4].items()
                                             if known(caller) and "module" not in caller[2]})
            for function, row in pstats.Stats(path).stats.items()
            if known(function) and "module" not in function[2] and key(function)[1] not in CLASSES}


def compare(dwell, which):
    """How many functions are as cProfile has them, and how many are not."""
    subprocess.run([sys.executable, "program.py", "theirs", which], check=True)
    subprocess.run([dwell, "run", "--functions=" + which, "-o", "trace.dwell", sys.executable, "program.py"],
                   check=True, capture_output=True)
    subprocess.run([dwell, "export", "--format", "pstats", "-o", "ours", "trace.dwell"], check=True)
    theirs, ours = counts_of("theirs", 2), counts_of("ours", 2)
    failed = len(theirs) < 20
    # From 3.14 on cProfile has functions of C as callers of those of Python, also where it was asked for none.
    called_by_c = [function[1:] for function, row in pstats.Stats("theirs").stats.items()
                   if which == "python" and any(caller[0] == "~" for caller in row[4])]
    for function in sorted(set(theirs) | set(ours)):
        known = 2 if function in called_by_c else 3
        if theirs.get(function, ())[:known] != ours.get(function, ())[:known]:
            failed += 1
            print(f"FAILED: --functions={which}: {function}: cProfile {theirs.get(function)}, dwell {ours.get(function)}")
    foreign = [row for row in pstats.Stats("ours").stats if row[0] == "~"]
    if (which == "all") != bool(foreign):
        failed += 1
        print(f"FAILED: --functions={which}: C functions: {foreign[:3]}")
    return len(set(theirs) | set(ours)) + 1 - failed, failed


def outliving(build, dwell, which):
    """Failures. Each call must contain its naps and no other, however long the machine made them."""
    with open("outliving.py", "w", encoding="utf-8") as file:
        file.write(OUTLIVING)
    folders = [build, os.path.join(build, "src", "interfaces", "compat", "lightning")]
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run([dwell, "run", "--functions=" + which, "-o", "outliving.dwell", sys.executable, "outliving.py",
                           os.path.join(here, "..", "..", "python")], check=True, capture_output=True, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": ":".join(folders)})
    naps = json.loads(done.stdout.splitlines()[-1])  # begin and end, after the program's begin and before its end
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
    failed = 0
    for name, calls in NAPS.items():
        shortest = [naps[end - 1][1] - naps[begin][0] if end > begin else 0 for begin, end in calls]
        longest = [naps[end][0] - naps[begin - 1][1] for begin, end in calls]
        taken = times.get(name, [])
        if len(taken) != len(calls) or not all(low / CLOCKS <= time <= high * CLOCKS + 1 for low, time, high in
                                               zip(sorted(shortest), sorted(taken), sorted(longest))):
            failed += 1
            print(f"FAILED: --functions={which}: {name}: {taken} us, not {shortest} to {longest}")
    return failed


def threads(dwell, which):
    """Failures: the memory of threads that ended is used again. KiB are the unit of the kernel."""
    with open("threads.py", "w", encoding="utf-8") as file:
        file.write(THREADS)
    done = subprocess.run([dwell, "run", "--functions=" + which, "-o", "threads.dwell", sys.executable, "threads.py"],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if int(done.stdout) > 2000:
        print(f"FAILED: --functions={which}: 4,000 threads that ended keep {int(done.stdout)} KiB")
    return int(done.stdout) > 2000


def interpreters(dwell, which):
    """Returns what fails: a program with several interpreters must run as it does without dwell."""
    with open("interpreters.py", "w", encoding="utf-8") as file:
        file.write(INTERPRETERS)
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run([dwell, "run", "--functions=" + which, "-o", "interpreters.dwell", sys.executable,
                           "interpreters.py", os.path.join(here, "..", "..", "python")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          env={**os.environ, "LD_LIBRARY_PATH": os.path.dirname(dwell)})
    failed = done.returncode not in (0, 77) or (done.returncode == 0 and b"144" not in done.stdout)
    if failed:
        print(f"FAILED: --functions={which}: several interpreters: {done.returncode}: {done.stdout[-500:]}")
    return failed


def main():
    dwell = os.path.join(os.path.abspath(sys.argv[1]), "dwell")
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("program.py", "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        for which in ("all", "python"):
            done, wrong = compare(dwell, which)
            passed, failed = passed + done, failed + wrong
        wrong = outliving(os.path.dirname(dwell), dwell, "all") + outliving(os.path.dirname(dwell), dwell, "python")
    passed, failed = passed + 2 * len(NAPS) - wrong, failed + wrong
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        wrong = sum(test(dwell, which) for test in (threads, interpreters) for which in ("all", "python"))
    passed, failed = passed + 4 - wrong, failed + wrong
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
