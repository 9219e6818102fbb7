#!/usr/bin/env python3
"""dwell run --functions=python: what a program may do with the interpreter's frame evaluation function.

usage: frames_test.py BUILD [--compile]       --compile: torch.compile alone

Deep recursion, in the main thread and others; another owner of the function who calls ours, who
does not, and who takes it away; torch.compile, when this Python has PyTorch 2. Run for each
Python that is to be served. The last line is "N passed, N failed, N skipped".
"""
import csv
import importlib.util
import os
import subprocess
import sys
import tempfile

import installed

DEEP = """
import sys, threading
def down(n): return 0 if n == 0 else 1 + down(n - 1)
def forever(n): return forever(n + 1)
def limit():
    try: forever(0)
    except RecursionError: return True
assert limit()
sys.setrecursionlimit(DEPTH + 100)
assert down(DEPTH) == DEPTH and limit()
found = []
thread = threading.Thread(target=lambda: found.append((limit(), down(DEPTH // 2))))
thread.start(); thread.join()
assert found == [(True, DEPTH // 2)]
def after(n): return n
for i in range(100): after(i)
"""

# An evaluation function of somebody else's, in C; it calls what it found there, or not.
OWNER_C = """
#include <stddef.h>
typedef void *evaluator(void *, void *, int);
evaluator *before;
extern evaluator _PyEval_EvalFrameDefault;
void *other(void *thread, void *frame, int raised)
{
	return (before ? before : _PyEval_EvalFrameDefault)(thread, frame, raised);
}
"""
OWNER = """
import ctypes, sys, threading, time
python, other = ctypes.pythonapi, ctypes.CDLL("./other.so")
for name in ("PyInterpreterState_Get", "_PyInterpreterState_GetEvalFrameFunc"):
    getattr(python, name).restype = ctypes.c_void_p
get, put = python._PyInterpreterState_GetEvalFrameFunc, python._PyInterpreterState_SetEvalFrameFunc
interpreter = ctypes.c_void_p(python.PyInterpreterState_Get())
address = lambda function: ctypes.c_void_p(ctypes.cast(function, ctypes.c_void_p).value)
def work(n): return n
def call(n):
    for i in range(n): work(i)
def take():
    ours = ctypes.c_void_p(get(interpreter))
    if MODE == "chain": ctypes.c_void_p.in_dll(other, "before").value = ours.value
    put(interpreter, address(python._PyEval_EvalFrameDefault if MODE == "reset" else other.other))
    return ours
def fail():
    try: raise KeyError("kept")
    finally: take()
go = threading.Event()
def meanwhile(): go.wait(); call(40)
thread = threading.Thread(target=meanwhile); thread.start()
call(10)
try: fail()
except KeyError as error: assert error.args == ("kept",)
call(0); call(20)
go.set(); thread.join()
late = threading.Thread(target=call, args=(30,)); late.start(); late.join()
"""

COMPILE = """
import torch, torch._dynamo
def helper(x): return x * 2
def fn(x): return helper(x) + 1
compiled = torch.compile(fn, backend="eager")
def plain(n): return n + 1
for i in range(50):
    assert compiled(torch.ones(4)).sum() == 12
    plain(i)
torch._dynamo.reset()
for i in range(50): plain(i)
assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
"""

passed = failed = skipped = 0


def check(what, good, found=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    print(f"ok {what}" if good else f"FAILED: {what}: {found}")


def record(dwell, text, prefix=""):
    """Calls by name, and what the trace says of how."""
    with open("program.py", "w", encoding="utf-8") as file:
        file.write(prefix + text)
    done = subprocess.run([dwell, "run", "--functions=python", "-o", "trace.dwell", sys.executable, "program.py"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return None, done.stderr[-600:]
    shown = subprocess.run([dwell, "report", "--view", "functions", "--limit", "all", "--format", "csv", "trace.dwell"],
                           capture_output=True, text=True, check=True).stdout
    calls = {row["name"]: int(row["calls"]) for row in csv.DictReader(shown.splitlines())
             if row.get("file", "").endswith("program.py")}
    info = subprocess.run([dwell, "info", "trace.dwell"], capture_output=True, text=True, check=True).stdout
    return calls, "".join(line for line in info.splitlines() if "python.functions" in line)


def deep(dwell):
    for depth in (900, 10000):
        calls, said = record(dwell, DEEP.replace("DEPTH", str(depth)))
        wanted = depth < 8000  # deeper calls are not recorded, with a profile function too
        check(f"recursion of {depth}", calls and calls["after"] == 100 and
              (not wanted or calls["down"] == depth + depth // 2 + 2), (calls, said))


def owners(dwell):
    global skipped
    with open("other.c", "w", encoding="utf-8") as file:
        file.write(OWNER_C)
    if subprocess.run(["cc", "-shared", "-fPIC", "-o", "other.so", "other.c"], check=False).returncode:
        skipped += 3
        print("skip other owners: no compiler")
        return
    for mode, says in (("chain", ""), ("keep", "another has"), ("reset", "another has reset")):
        calls, said = record(dwell, OWNER, f"MODE = {mode!r}\n")
        check(f"another owner: {mode}", calls and calls.get("work") == 100 and bool(says) == bool(said) and says in said,
              (calls, said))


def compiling(dwell):
    global skipped
    if importlib.util.find_spec("torch") is None or installed.need("torch")[0] == "1":
        skipped += 1
        print("skip torch.compile: no PyTorch 2 here")
        return
    calls, said = record(dwell, COMPILE)
    check("torch.compile", calls and calls.get("plain") == 100 and calls.get("fn") == 50 and not said, (calls, said))


def main():
    dwell = os.path.join(os.path.abspath(sys.argv[1]), "dwell")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if "--compile" not in sys.argv:
            deep(dwell)
            owners(dwell)
        compiling(dwell)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed != 0


if len(sys.argv) < 2:
    sys.exit(__doc__)
sys.exit(main())
