#!/usr/bin/env python3
"""Whether a sentence has the share of its cells, and the account's rows sum to it, for every golden trace.

usage: sums_test.py DWELL MKTRACE
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden/views")
LEAST = 2  # traces that have such a sentence


def main():
    dwell, mktrace = map(os.path.abspath, sys.argv[1:])
    passed = failed = found = 0
    for source in sorted(glob.glob(os.path.join(TRACES, "*.txt"))):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "t.dwell")
            if subprocess.run([mktrace, source, trace], capture_output=True, check=False).returncode:
                continue  # made in another way
            done = subprocess.run([dwell, "report", "--summary", "--format", "json", trace], capture_output=True, text=True, check=True)
        summary = json.loads(done.stdout)
        account = summary["account"]
        parts = {row["name"]: row["share"] for row in account["ranges"] + account["rows"]}
        whole = abs(sum(row["ns"] for row in account["rows"]) - (account["wall_ns"] or 0)) <= 1e-6 * (account["wall_ns"] or 0) + len(account["rows"])
        passed, failed = passed + whole, failed + (not whole)
        if not whole:
            print(f"FAILED {os.path.basename(source)}: the rows of the account do not sum to {account['wall_ns']}")
        for verdict in summary["verdicts"]:
            found += bool(verdict["cells"])
            right = not verdict["cells"] or abs(sum(parts[cell] for cell in verdict["cells"]) - verdict["share"]) < 1e-6
            passed, failed = passed + right, failed + (not right)
            if not right:
                print(f"FAILED {os.path.basename(source)}: {verdict['statement']} {verdict['cells']} {parts}")
    if found < LEAST:
        print(f"FAILED only {found} sentences have cells")
    print(f"{passed} passed, {failed + (found < LEAST)} failed")
    return failed > 0 or found < LEAST


if __name__ == "__main__":
    sys.exit(main())
