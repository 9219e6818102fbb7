#!/usr/bin/env python3
"""Every view, layout and export of a trace that no sane program writes.

usage: odd_check.py MKTRACE DWELL        last line: N passed, N failed

Ranges ended twice and never, 20,000 deep, names of any bytes: all of it is kept, escaped
and counted, and nothing crashes, hangs or writes a file that does not parse. And names
that steer a terminal: no output that people look at holds a byte that a terminal obeys.
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
EVIL = b"e\x1b[2Jv\x1b]0;t\x07i\x9b1ml\xc2\x9b2J\xc2\x85\x7f\xe2\x80\xae\r\x0e%s"
EVIL_TRACE = b"""process 0 pid=1 name="%s" command="%s"
thread 0 tid=1 name="%s"
stream 0 thread=0
meta "%s" "%s"
profile "%s" 0 0 1ms
""" % tuple(EVIL % (b"%d" % i) for i in range(6)) + b"".join(b"""step-begin
+1us begin phase forward
+1us begin layer "%s" detail="%s" shapes=2x3:float32 file=%s:3
+1us begin operator "%s"
+1us alloc "%s" cpu 4096 %d
args "%s"
+5us end
+1us begin function "%s" file=%s:7
+1us end
+1us end
+1us end
+1us step-end
""" % (*(EVIL % b"x" for _ in range(5)), 100 + i, *(EVIL % b"y" for _ in range(3))) for i in range(3))
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def dwell(*arguments):
    return subprocess.run([DWELL, *arguments], capture_output=True, timeout=600, check=False)


def listed(verb, heading):
    lines = dwell(verb, "--help").stdout.decode().split(f"\n{heading}:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in lines.splitlines() if line.startswith("  ") and line[2] != " "]


def steers(output):
    """What of the output a terminal would obey, or b"" where there is nothing."""
    try:
        text = output.decode("utf-8")
    except UnicodeDecodeError as error:
        return output[error.start:error.start + 1]
    return [c for c in text if (c < " " and c not in "\n\t\r") or "\x7f" <= c < "\xa0" or
            "\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069"]


def check_harmless(what, run):
    found = steers(run.stdout) or steers(run.stderr)
    check(f"{what} is harmless: {found[:4]}", not found)
    return len(run.stdout)


def check_evil(trace):
    subprocess.run([MKTRACE, "-", trace], input=EVIL_TRACE, check=True)
    printed = 0
    for view in listed("report", "--view NAME"):
        for form in ("text", "json", "markdown", "html"):
            printed += check_harmless(f"{view} as {form}", dwell("report", "--view", view, "--format", form, trace))
    for layout in ("ignite", "lightning", "lightning-short", "lightning-pytorch", "torch", "torch:1.13", "pstats",
                   "singa", "torchprof"):
        printed += check_harmless(f"layout {layout}", dwell("report", "--layout", layout, trace))
    for form in ("chrome", "folded", "speedscope", "flamegraph", "icicle"):
        printed += check_harmless(f"export {form}", dwell("export", "--format", form, "-o", "-", trace))
    printed += check_harmless("info", dwell("info", trace))
    printed += check_harmless("info --texts", dwell("info", "--texts", trace))
    check("much was printed", printed > 50000)


with tempfile.TemporaryDirectory() as folder:
    check_evil(os.path.join(folder, "evil.dwell"))
    os.unlink(os.path.join(folder, "evil.dwell"))
    trace = os.path.join(folder, "odd.dwell")
    subprocess.run([MKTRACE, "-", trace], input=TRACE, check=True)
    for view in listed("report", "--view NAME"):
        for form in ("text", "json"):
            run = dwell("report", "--view", view, "--format", form, "--limit", "all", trace)
            check(f"view {view} as {form}: {run.returncode} {run.stderr[:200]}", run.returncode in (0, 1))
            if form == "json" and run.returncode == 0:
                json.loads(run.stdout)
    calls = json.loads(dwell("report", "--view", "calls", "--format", "json", trace).stdout)["views"][0]
    counts = {row[0]: row[1] for row in calls["rows"]}
    check("all of it is counted", counts.get("deep") == DEEP and counts.get("never") == 1 and len(counts) == 3)
    for form in listed("export", "--format FORMAT"):
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
