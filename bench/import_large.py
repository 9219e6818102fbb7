#!/usr/bin/env python3
"""Memory of dwell for a large trace of Kineto that is made from real ones.

usage: import_large.py DWELL GB TRACE.json.gz...

The events of the traces are written one after the other, again and again until the file has GB
gigabytes (5: about 3 minutes): each copy begins where the one before it ended, and has
correlation and external ids of its own. Then `dwell import` and `dwell report` read the file.
"""
import gzip
import os
import re
import subprocess
import sys
import tempfile
import time

NUMBERS = re.compile(rb'("ts":\s*|"correlation":\s*|"External id":\s*)(\d+)')
TS = re.compile(rb'"ts":\s*(\d+)')
IDS = 10_000_000  # more than a trace has


def events_of(path):
    """The text of the events, the first time and the last one in microseconds."""
    with gzip.open(path) as file:
        text = file.read()
    start = text.index(b"[", text.index(b'"traceEvents"')) + 1
    end = text.rindex(b"}", start, text.index(b'"traceName"', start) if b'"traceName"' in text[start:] else
                      text.rindex(b"]")) + 1
    times = [int(time_us) for time_us in TS.findall(text, start, end)]
    return text[start:end].rstrip(b"] \n,"), min(time_us for time_us in times if time_us), max(times)


def write(path, size, sources):
    traces = [events_of(source) for source in sources]
    at_us, copies = 0, 0
    with open(path, "wb") as file:
        file.write(b'{"schemaVersion": 1, "traceEvents": [\n')
        while file.tell() < size:
            events, first_us, last_us = traces[copies % len(traces)]
            shift_us, ids = at_us - first_us, copies * IDS

            def renumber(match, shift_us=shift_us, ids=ids):
                number = int(match[2])
                moved = max(0, number + shift_us) if match[1].startswith(b'"ts') else (number + ids) % 2**32
                return match[1] + b"%d" % moved
            file.write(b",\n" * (copies > 0) + NUMBERS.sub(renumber, events))
            at_us += last_us - first_us + 1000
            copies += 1
        file.write(b"\n]}\n")
    return copies


def measure(*command):
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        sys.exit(f"{command}: {said.decode()}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def main():
    dwell, size = os.path.abspath(sys.argv[1]), float(sys.argv[2]) * 1e9
    with tempfile.TemporaryDirectory() as folder:
        plain, result = os.path.join(folder, "trace.json"), os.path.join(folder, "trace.dwell")
        writer = os.fork()  # the memory of this process would count for the commands that it starts
        if not writer:
            print(write(plain, size, sys.argv[3:]), end=" traces: ", flush=True)
            os._exit(0)
        if os.waitpid(writer, 0)[1]:
            sys.exit("the large trace could not be written")
        print(f"{os.path.getsize(plain) / 1e9:.2f} GB", flush=True)
        for name, command in (("import", ("import", plain, "-o", result)),
                              ("report of the result", ("report", result)),
                              ("report of its devices",
                               ("report", result, "--view", "device", "--view", "kernels", "--view", "streams"))):
            seconds, mib = measure(dwell, *command)
            print(f"dwell {name}: {seconds:.1f} s, at most {mib:.0f} MiB resident", flush=True)


main()
