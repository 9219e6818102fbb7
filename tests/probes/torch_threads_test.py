#!/usr/bin/python3
"""Operators of threads that come and go, and ranges that another thread ends.

usage: torch_threads_test.py path/to/dwell

Threads one after another must not make the program grow. A range that another thread ends must
not stay open, and must not cost its thread the ranges after it. What is nested too deeply to
be recorded must be counted as lost.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import json
import os
import subprocess
import sys
import tempfile

import forked
import installed

TORCH = installed.need("torch")

SERVER = forked.Server(shared=True)
HEAD = """
import os, sys, threading, torch
from torch.autograd.profiler import record_function
torch.set_num_threads(1)
x = torch.ones(2)
def operator(): return x + x
def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()
"""
# What a thread has is a hundred and more kilobytes with its stack, so a hundred first.
MANY = """
def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))
def run(count):
    for i in range(count): in_thread(operator)
run(100)
before = anonymous()
run(3000)
print(anonymous() - before)
"""
AT_ONCE = """
def both():
    inner = threading.Thread(target=operator)
    operator(); inner.start(); operator(); inner.join(); operator()
for i in range(20):
    threads = [threading.Thread(target=both) for _ in range(20)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""
# More than the probe follows at once; the thread that began them does nothing meanwhile.
ENDED_ELSEWHERE = """
def end(zones):
    for zone in zones: zone.__exit__(None, None, None)
for part in range(4):
    zones = [record_function(f"zone {part}") for i in range(200)]
    for zone in zones: zone.__enter__()
    in_thread(lambda: end(zones[::-1] if part % 2 else zones))
    for i in range(5): torch.sin(x)
with record_function("after"): torch.cos(x)
"""
# The thread that began them has ended.
ORPHANS = """
zones = []
def begin():
    zones.append([record_function("orphan") for i in range(100)])
    for zone in zones[-1]: zone.__enter__()
for part in range(10):
    in_thread(begin)
    for zone in zones[-1]: zone.__exit__(None, None, None)
in_thread(lambda: [torch.sin(x) for i in range(20)])
with record_function("after"): torch.cos(x)
"""
DEEP = """
zones = [record_function("deep") for i in range(700)]
for zone in zones: zone.__enter__()
for zone in reversed(zones): zone.__exit__(None, None, None)
for i in range(20): torch.sin(x)
with record_function("after"): torch.cos(x)
"""
FORK = """
in_thread(operator)
def child():
    for i in range(20): in_thread(lambda: torch.sin(x))
    with record_function("after"): torch.cos(x)
    os._exit(0)
pid = os.fork()
if not pid: child()
sys.exit(os.waitpid(pid, 0)[1])
"""
counts = {True: 0, False: 0}


def check(what, good, said=""):
    counts[bool(good)] += 1
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {said}"))


def record(dwell, folder, name, script):
    """Its output and its report's document."""
    trace, path = os.path.join(folder, "t.dwell"), os.path.join(folder, "program.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD + script)
    done = SERVER.run(dwell, "--cost", "full", "-o", trace, script=path)
    check(f"{name}: ends well", done.returncode == 0, done.stderr[-800:])
    document = json.loads(subprocess.run([dwell, "report", "-v", "calls", "-n", "all", "--format", "json", trace],
                                         capture_output=True, text=True, check=False).stdout)
    return done.stdout, document


def calls(document):
    view = document["views"][0]
    names = [column["name"] for column in view["columns"]]
    found = {}
    for row in view["rows"]:
        row = dict(zip(names, row))
        found[row["name"]] = found.get(row["name"], 0) + row["calls"]
    return found


def lost(document):
    return {line["cause"]: line["records"] for line in document["views"][0]["losses"]}


def main():
    dwell = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        output, document = record(dwell, folder, "many threads", MANY)
        check("many threads: memory", output and int(output) < 6000, f"{output} KiB in 3,000 threads")
        check("many threads: operators", calls(document).get("aten::add") == 3100, calls(document))
        _, document = record(dwell, folder, "threads at once", AT_ONCE)
        check("threads at once: operators", calls(document).get("aten::add") == 1600, calls(document))
        _, document = record(dwell, folder, "ended elsewhere", ENDED_ELSEWHERE)
        found = calls(document)
        check("ended elsewhere: all recorded", [found.get(f"zone {part}") for part in range(4)] == [200] * 4 and
              found.get("aten::sin") == 20 and found.get("aten::cos") == 1, found)
        check("ended elsewhere: nothing lost", not lost(document), lost(document))
        _, document = record(dwell, folder, "orphans", ORPHANS)
        found = calls(document)
        check("orphans: what comes after is recorded", found.get("aten::sin") == 20 and found.get("aten::cos") == 1,
              found)
        _, document = record(dwell, folder, "deep", DEEP)
        found = calls(document)
        check("deep: what comes after is recorded", found.get("aten::sin") == 20 and found.get("after") == 1, found)
        check("deep: recorded or lost", 0 < found.get("deep", 0) < 700 and
              found["deep"] + lost(document).get("probe", 0) >= 700, (found.get("deep"), lost(document)))
        _, document = record(dwell, folder, "a child of fork", FORK)
        found = calls(document)
        check("a child of fork: operators", found.get("aten::sin") == 20 and found.get("aten::cos") == 1, found)
    print(f"PyTorch {TORCH}: {counts[True]} passed, {counts[False]} failed")
    return counts[False] != 0


sys.exit(main())
