#!/usr/bin/env python3
"""Tests the form of the labels and how sentences are judged. Says nothing of how good the sentences are.

usage: tests/strangers/strangers_test.py [DWELL]     with DWELL, also tools/measure/strangers on the smallest kept traces
"""
import gzip
import hashlib
import os
import re
import subprocess
import sys
import tempfile

import judging

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
SMALLEST = 3
KINDS = judging.read("kinds.json")
failed = passed = 0


def check(what, holds):
    global failed, passed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print("FAIL " + what)


def kept_labels(dwell):
    kept = [label for label in judging.read("labels.json.xz")["traces"] if "kept" in label]
    return sorted(kept, key=lambda label: os.path.getsize(judging.kept_path(dwell, label)))


def test_kept(dwell):
    """The project's traces are those that were labelled; packed anew, JSON has other white space than its authors published."""
    for label in kept_labels(dwell):
        path = judging.kept_path(dwell, label)
        with gzip.open(path) if "content" in label else open(path, "rb") as file:
            content = hashlib.sha256(file.read()).hexdigest()
        check(f"{label['name']}: {label['kept']} has other content", content == label.get("content", label["sha256"]))


def test_files():
    data = judging.read("labels.json.xz")
    for fault in judging.check(data, KINDS) + judging.check_judged(judging.read("judged.json"), {one["name"] for one in data["traces"]}):
        check(fault, False)
    with open(os.path.join(ROOT, "doc/reference/rules.md"), encoding="utf-8") as file:
        rules = set(re.findall(r"^#### (\S+)$", file.read(), re.M))
    check(f"kinds.json has rules that dwell has not: {sorted(set(KINDS['rules']) - rules)}", set(KINDS["rules"]) <= rules)
    known = set(KINDS["kinds"])
    check("kinds.json has kinds of its own list only",
          all(set(kinds) <= known for kinds in KINDS["rules"].values()) and all(kind in known for _, kind in KINDS["words"]))


def verdict(rule, statement="", share=0.4):
    return {"rule": rule, "statement": statement or f"It takes {share:.0%} of each step.", "share": share}


LABEL = {"name": "made", "must_not": ["data loader", {"kind": "python", "place": ["stop_trace"]}],
         "right": [{"kind": "device idle", "place": ["Preprocess"], "share": [[0.3, 0.5]]}, {"kind": "copies"}],
         "place": [{"kind": "optimizer", "share": [[0.1, 0.2]]}, {"kind": "python", "place": ["resize"]}]}


def test_judging():
    idle = "The device is idle for 40% of each step"
    for what, outcome, said in (
            ("a kind with its place and share", judging.RIGHT, verdict("device-host-late", idle + ", in preprocess()")),
            ("the first of two shares", judging.RIGHT, verdict("device-host-late", idle + ", for 10% in preprocess()", share=0.1)),
            ("a kind of the label without a place", judging.RIGHT, verdict("device-copies")),
            ("a kind without its place", judging.PLACE, verdict("device-host-late", idle)),
            ("a true statement that is not what to say first", judging.PLACE, verdict("optimizer-unfused", share=0.15)),
            ("a false share", judging.WRONG, verdict("optimizer-unfused", share=0.5)),
            ("a forbidden kind", judging.WRONG, verdict("loader-in-process")),
            ("a forbidden kind with its place", judging.WRONG, verdict("python", "Python takes 40%, in stop_trace")),
            ("a kind with another place", judging.OPEN, verdict("python", "Python takes 40%, in main")),
            ("a kind that the label does not have", judging.OPEN, verdict("device-communication")),
            ("a rule that the table does not have, by its words", judging.PLACE, verdict("new-rule", idle)),
            ("a name that sounds like a forbidden kind", judging.PLACE, verdict("new-rule", idle + ", in DataLoaderish()")),
            ("no verdict", judging.NOTHING, None),
            ("a verdict that says nothing", judging.NOTHING, verdict("nameless"))):
        found = judging.judge(LABEL, said, KINDS)[0]
        check(f"{what} is {outcome}, not {found}", found == outcome)
    silent = {**LABEL, "right": [{"kind": judging.EMPTY}]}
    check("no verdict where nothing can be said", judging.judge(silent, None, KINDS)[0] == judging.SILENT)
    by_person = [{"trace": "made", "sentence": judging.digest("It waits."), "verdict": judging.WRONG, "reason": "it does not"}]
    check("what a person decided", judging.judge(LABEL, verdict("device-communication", "It waits."), KINDS, by_person)[0] == judging.WRONG)
    check("what a person decided of another sentence",
          judging.judge(LABEL, verdict("device-communication", "It may wait."), KINDS, by_person)[0] == judging.OPEN)
    faults = judging.check({"sources": {}, "traces": [{**LABEL, "right": [{"kind": "magic"}]}]}, KINDS)
    check("a label of another form is a fault", faults)


def run(*words):
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools/measure/strangers"), *words], capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout + done.stderr


def test_tool(dwell):
    names = [label["name"] for label in kept_labels(dwell)[:SMALLEST]]
    with tempfile.TemporaryDirectory() as folder:
        results = os.path.join(folder, "results.json")
        status, output = run("--dwell", dwell, "--results", results, *names)
        check(f"the smallest traces are reported on: {output}", status == 0 and all(re.search(f"^{name} +[a-z]", output, re.M) for name in names))
        check("the totals are the last line", re.fullmatch(r"(\d+ [a-z ]+, )+\d+ skipped", output.splitlines()[-1]))
        check("judged again without a run", run("--again", "--results", results, *names)[1] == output)
        status, output = run("--dwell", dwell, "--folder", folder, "--results", os.path.join(folder, "other.json"), "timesformer")
        check(f"missing traces are named: {output}", status == 0 and output.count("skip ") == 2 and output.endswith("2 skipped\n"))
        status, output = run("--gather", folder)
        check("where traces come from", status == 0 and "AMD-AGI/TraceLens" in output and output.count("missing") > 30)


def main():
    test_files()
    test_judging()
    if len(sys.argv) > 1:
        test_kept(os.path.abspath(sys.argv[1]))
        test_tool(os.path.abspath(sys.argv[1]))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
