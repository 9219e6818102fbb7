#!/usr/bin/env python3
"""Whether each sentence and note of the views of all golden traces is one for people: without addresses, words of the source, and
values that could not be computed.

usage: sentences_test.py DWELL MKTRACE
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden/views")
VIEWS = ("overview", "verdict", "steps", "phases", "hot", "waits", "heap", "threads", "dataloader", "stragglers")
LEAST = 300  # sentences
NOT_FOR_PEOPLE = re.compile(r"0x[0-9a-f]+|\[jit\]|\(no Python|\bDW_|dwell_\w+\(?_ns\b|\bNULL\b|\(null\)|\b-?nan\b|\binf\b|%[a-z]\b|\{|\}|<unknown>")


def sentences(dwell, trace):
    for view in VIEWS:
        done = subprocess.run([dwell, "report", "--view", view, "--format", "json", trace], capture_output=True, text=True, check=False)
        for table in json.loads(done.stdout)["views"] if done.returncode == 0 else []:
            yield from ((view, text) for text in table.get("heads", []) + table.get("notes", []))


def main():
    dwell, mktrace = map(os.path.abspath, sys.argv[1:])
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "t.dwell")
        for source in sorted(glob.glob(os.path.join(TRACES, "*.txt"))):
            if subprocess.run([mktrace, source, trace], capture_output=True, check=False).returncode:
                continue  # made in another way
            for view, text in sentences(dwell, trace):
                wrong = NOT_FOR_PEOPLE.search(text)
                passed, failed = passed + (not wrong), failed + bool(wrong)
                if wrong:
                    print(f"FAILED {os.path.basename(source)}, {view}: '{wrong.group()}' in: {text}")
    if passed < LEAST:
        print(f"FAILED only {passed} sentences")
    print(f"{passed} passed, {failed + (passed < LEAST)} failed")
    return failed > 0 or passed < LEAST


if __name__ == "__main__":
    sys.exit(main())
