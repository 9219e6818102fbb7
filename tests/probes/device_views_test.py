#!/usr/bin/env python3
"""The views of three real traces of GPUs are what they were when they were looked at.

usage: device_views_test.py [--update] DWELL   last line: N passed, N failed

The traces are in tests/data/kineto. tests/golden/real/NAME.txt has the first lines of each view's text,
and a digest of the whole view as JSON. The overview has only its table of devices: its verdicts have
tests of their own. If a change is intended, --update writes the files: look at `git diff` before you
believe it. hta_test.py and torch_eventlist_test.py say whether the figures are right.
"""
import hashlib
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data"))
import unpacked  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "../golden/real")
TRACES = ("train_v100_rank1", "nccl_a100", "mi250")
VIEWS = ("overview", "device", "kernels", "streams", "operators", "calls", "layers", "steps", "phases", "actions",
         "sequence", "tree")
LINES = 16


def report(trace, *arguments):
    """The output of dwell report. It runs in the folder of the traces, so that no output contains a path."""
    done = subprocess.run([DWELL, "report", trace + ".json.gz", *arguments], cwd=FOLDER,
                          capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else done.stderr


def describe(trace, view):
    text, answer = report(trace, "--view", view), report(trace, "--view", view, "--limit", "all", "--format", "json")
    if view == "overview":
        parts = [part for part in json.loads(answer)["views"] if part.get("part") == "device"]
        text, answer = "", json.dumps(parts)
        for part in parts:
            text += "".join("  ".join(str(cell) for cell in row) + "\n" for row in part["rows"])
    lines = text.splitlines()
    more = f"({len(lines) - LINES} more lines)\n" if len(lines) > LINES else ""
    return (f"==== {view}\n" + "".join(line + "\n" for line in lines[:LINES]) + more
            + f"whole: {hashlib.sha256(answer.encode()).hexdigest()[:32]}\n")


def main():
    passed = failed = 0
    for trace in TRACES:
        path = os.path.join(EXPECTED, trace + ".txt")
        found = {view: describe(trace, view) for view in VIEWS}
        if UPDATE:
            with open(path, "w", encoding="utf-8") as file:
                file.write("".join(found.values()))
        with open(path, encoding="utf-8") as file:
            wanted = {part.split("\n", 1)[0]: "==== " + part for part in file.read().split("==== ")[1:]}
        for view in VIEWS:
            good = found[view] == wanted.get(view)
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"FAIL {trace} {view}: is\n{found[view]}was\n{wanted.get(view)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    UPDATE = "--update" in sys.argv
    DWELL = os.path.abspath(sys.argv[-1])
    FOLDER = os.path.join(unpacked.folder(DWELL), "kineto")
    sys.exit(main())
