#!/usr/bin/env python3
"""Every view, layout and export of a trace that no sane program writes.

usage: odd_check.py MKTRACE DWELL        last line: N passed, N failed

Ranges ended twice and never, 20,000 deep, names of any bytes: all of it is kept, escaped
and counted, and nothing crashes, hangs or writes a file that does not parse.
"""
import json
import os
import subprocess
import sys
import tempfile
import xml.dom.minidom

MKTRACE, DWELL = map(os.path.abspath, sys.argv[1:3])
DEEP = 20000
TRACE = (b"process 0 pid=1 name=odd\nthread 0 tid=1 name=main\nstream 0 thread=0\nend\nend\n"
         b"repeat %d\n+1us begin zone deep\ndone\nrepeat %d\n+1us end\ndone\nend\n"
         b'+1us begin operator "\x01\x02\xff\xfe\\\\";<&>\xc3\xa9\t x"\n+5us end\n'
         b"+1us begin operator never\n" % (DEEP, DEEP))
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def dwell(*arguments):
    return subprocess.run([DWELL, *arguments], capture_output=True, timeout=60, check=False)


def listed(verb, heading):
    lines = dwell(verb, "--help").stdout.decode().split(f"\n{heading}:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in lines.splitlines() if line.startswith("  ") and line[2] != " "]


with tempfile.TemporaryDirectory() as folder:
    trace = os.path.join(folder, "odd.dwell")
    subprocess.run([MKTRACE, "-", trace], input=TRACE, check=True)
    for view in listed("report", "NAME"):
        for form in ("text", "json"):
            run = dwell("report", "--view", view, "--format", form, "--limit", "all", trace)
            check(f"view {view} as {form}: {run.returncode} {run.stderr[:200]}", run.returncode in (0, 1))
            if form == "json" and run.returncode == 0:
                json.loads(run.stdout)
    calls = json.loads(dwell("report", "--view", "calls", "--format", "json", trace).stdout)["views"][0]
    counts = {row[0]: row[1] for row in calls["rows"]}
    check("all of it is counted", counts.get("deep") == DEEP and counts.get("never") == 1 and len(counts) == 3)
    for form in listed("export", "FORMAT"):
        path = os.path.join(folder, "out")
        run = dwell("export", "--format", form, "-o", path, trace)
        check(f"export {form}: {run.returncode} {run.stderr[:200]}", run.returncode in (0, 1))
        if run.returncode:
            continue
        if form in ("chrome", "speedscope"):
            with open(path, encoding="utf-8") as file:
                json.load(file)
        elif form in ("flamegraph", "icicle"):
            xml.dom.minidom.parse(path)
        check(f"export {form} is not empty", os.path.isdir(path) or os.path.getsize(path) > 100)
        if not os.path.isdir(path):
            os.unlink(path)
    check("nothing else is left behind", len(os.listdir(folder)) <= 2)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
