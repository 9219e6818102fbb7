#!/usr/bin/env python3
"""How right samples of call stacks are and what they disturb: shares of functions of known cost at 10,000 samples, calls that a
signal would interrupt for a minute, stacks of 64 threads, and stops by dwell attach.

usage: samples_asked.py BUILD
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DWELL = os.path.join(os.path.abspath(sys.argv[1]), "dwell")
SHARES = {"burn_60": 60, "burn_30": 30, "burn_10": 10}
THREADS = """import sys, threading
def wait(depth): return wait(depth - 1) if depth else end.wait()
end = threading.Event()
for _ in range(63): threading.Thread(target=wait, args=(10,)).start()
print("ready", flush=True)
sys.stdin.read()
end.set()
"""


def ask(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)


def shares(folder, program):
    """The largest difference from the truth, in points, and the number of samples."""
    trace, weights, samples = os.path.join(folder, "t.dwell"), dict.fromkeys(SHARES, 0), 0
    while samples < 10000:
        ask(DWELL, "run", "-o", trace, "--sample", 250, program, "shares")
        view = json.loads(ask(DWELL, "report", "--view", "hot", "--format", "json", "--limit", "all", trace).stdout)["views"][0]
        names = [column["name"] for column in view["columns"]]
        for row in (dict(zip(names, row)) for row in view["rows"]):
            if row["name"] in weights:
                weights[row["name"]] += row["total_ns"]
                samples += row["samples"]
    return max(abs(weights[name] / sum(weights.values()) * 100 - SHARES[name]) for name in SHARES), samples


def stacks():
    """Milliseconds of `dwell stacks` for 64 threads of Python, each 12 functions deep; and how many threads it found."""
    with subprocess.Popen([sys.executable, "-c", THREADS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        times = []
        for _ in range(9):
            begin = time.monotonic()
            said = ask(DWELL, "stacks", process.pid).stdout
            times.append((time.monotonic() - begin) * 1e3)
        process.communicate(b"")
    return statistics.median(times), int(re.search(r"(\d+) threads", said).group(1))


with tempfile.TemporaryDirectory() as scratch:
    program = os.path.join(scratch, "program")
    ask("gcc", "-O1", "-g", "-pthread", os.path.join(ROOT, "tests", "probes", "sampler_program.c"), "-o", program)
    print("shares of three functions: %.1f points from the truth at most, at %d samples" % shares(scratch, program))
    minute = ask(DWELL, "run", "-o", os.path.join(scratch, "m.dwell"), "--sample", 250, program, "calls", 60).stdout
    print("a minute of calls that a signal may interrupt: %s were" % re.search(r"(\d+) interrupted", minute).group(1))
    print("dwell stacks of %d threads: %.0f ms" % stacks()[::-1])
    with subprocess.Popen([program, "calls", "8"], stdout=subprocess.DEVNULL) as running, \
            subprocess.Popen([sys.executable, "-c", "import time\nend = time.time() + 8\nwhile time.time() < end: sum(range(1000))"]) as python:
        for name, process in (("C", running), ("Python", python)):
            said = ask(DWELL, "attach", "--for", "3s", "-o", os.path.join(scratch, "a.dwell"), process.pid)
            found = re.search(r"for (\d+) us in the mean, (\d+) us at most", said.stdout + said.stderr)
            if not found:
                sys.exit(f"dwell attach: {said.stdout}{said.stderr}")
            mean, most = found.groups()
            print(f"dwell attach stops a thread of {name} for {mean} us in the mean, {most} us at most")
