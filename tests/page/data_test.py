#!/usr/bin/env python3
"""Whether the data of an HTML report is JSON, for every golden trace.

usage: data_test.py DWELL MKTRACE

A page whose data cannot be read is blank, and no other test opens a page of each kind of trace.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden/views")


def check(dwell, mktrace, source, folder):
    """Why the page of a trace cannot be read, or None."""
    trace, page = os.path.join(folder, "t.dwell"), os.path.join(folder, "t.html")
    if subprocess.run([mktrace, source, trace], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
        return None  # made in another way
    done = subprocess.run([dwell, "report", "--format", "html", "-o", page, trace], capture_output=True, text=True, check=False)
    if done.returncode:
        return None if "no " in done.stderr else done.stderr
    with open(page, encoding="utf-8") as file:
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read(), re.S).group(1)
    try:
        json.loads(data)
    except ValueError as error:
        return str(error)
    return None


def main():
    dwell, mktrace = map(os.path.abspath, sys.argv[1:])
    failed = passed = 0
    for source in sorted(glob.glob(os.path.join(TRACES, "*.txt"))):
        with tempfile.TemporaryDirectory() as folder:
            why = check(dwell, mktrace, source, folder)
        passed, failed = passed + (why is None), failed + (why is not None)
        if why is not None:
            print(f"FAILED {os.path.basename(source)}: {why}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
