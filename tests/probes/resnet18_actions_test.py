#!/usr/bin/env python3
"""The trainer's actions: Lightning's, in its order and nesting.

usage: resnet18_actions_test.py RESNET18 DWELL

A fit of one epoch, two batches and one of validation, against lightning_fit.txt (which
lightning_profilers_test.py compares with Lightning itself); --action-names 1.6; the report of
--profiler simple. The last line is "N passed, N failed".
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINE = ("run", "epoch", "processing")  # actions of the loop itself
counts = {True: 0, False: 0}


def check(good, what):
    counts[bool(good)] += 1
    if not good:
        print(f"FAILED: {what}")


def make_digits(folder):
    """MNIST's four files with four training and two held-out images."""
    for name, count in (("train", 4), ("t10k", 2)):
        with open(os.path.join(folder, name + "-images-idx3-ubyte"), "wb") as file:
            file.write(struct.pack(">IIII", 2051, count, 28, 28) + bytes(range(196)) * 4 * count)
        with open(os.path.join(folder, name + "-labels-idx1-ubyte"), "wb") as file:
            file.write(struct.pack(">II", 2049, count) + bytes(range(count)))


def to_ns(us):
    """Whole nanoseconds: sums of microseconds as floats may lie just outside a range's end."""
    return round(us * 1000)


def actions_of(dwell, trace):
    """Names in the order of their begin, indented by nesting."""
    subprocess.run([dwell, "export", "--format", "chrome", "-o", "actions.json", trace], check=True)
    begun, found, open_until, lines = {}, [], [], []
    with open("actions.json", encoding="utf-8") as file:
        for event in json.load(file)["traceEvents"]:
            if event.get("args", {}).get("Category") == "action" and event["ph"] == "X":
                start = to_ns(event["ts"])
                found.append((start, start + to_ns(event["dur"]), event["name"]))
            elif event["ph"] == "b":
                begun[event["name"], event["id"]] = to_ns(event["ts"])
            elif event["ph"] == "e" and event["name"] not in ENGINE:
                found.append((begun[event["name"], event["id"]], to_ns(event["ts"]), event["name"]))
    # If two ranges begin in the same tick, the longer one is around the other.
    for start, end, name in sorted(dict.fromkeys(found), key=lambda one: (one[0], -one[1])):
        if name in ENGINE:
            continue
        while open_until and open_until[-1] <= start:
            open_until.pop()
        lines.append("  " * len(open_until) + name)
        open_until.append(end)
    return lines


def run(dwell, program, *options):
    done = subprocess.run([dwell, "run", "-o", "run.dwell", program, "--data", ".", "--batch", "2",
                           "--epochs", "1", "--profiler", "simple", *options], capture_output=True, text=True,
                          check=False)
    check(done.returncode == 0, f"{options}: {done.stderr[-300:]}")
    return done.stdout, actions_of(dwell, "run.dwell")


def main():
    program, dwell = (os.path.abspath(path) for path in sys.argv[1:3])
    with open(os.path.join(HERE, "lightning_fit.txt"), encoding="utf-8") as file:
        wanted = file.read().replace("MODEL.", "ResNet18.").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_digits(folder)
        report, actions = run(dwell, program)
        check(actions == wanted, "the order: " + next(
            (f"line {i + 1}: {a!r}, not {w!r}" for i, (a, w) in enumerate(zip(actions, wanted)) if a != w),
            f"{len(actions)} actions, not {len(wanted)}"))
        check(re.search(r"^FIT Profiler Report$", report, re.M), "no report")
        for name in set(line.strip() for line in wanted) - {"[LightningModule]ResNet18.configure_callbacks"}:
            calls = sum(line.strip() == name for line in wanted)
            check(re.search(rf"^\|  {re.escape(name)} *\t\|  [^|]*\|  {calls} ", report, re.M), f"{name}: not {calls}")
        _, old = run(dwell, program, "--action-names", "1.6")
        names = [line.strip() for line in old]
        for name in ("run_training_epoch", "run_training_batch", "run_validate_evaluation", "on_train_batch_start",
                     "get_train_batch", *("[LightningModule]ResNet18." + hook for hook in (
                         "optimizer_step", "on_train_start", "on_train_end", "on_fit_start", "on_fit_end", "setup",
                         "prepare_data", "teardown"))):
            check(name in names, f"--action-names 1.6: no {name}")
        check(names.index("on_fit_start") + 1 == names.index("[LightningModule]ResNet18.on_fit_start"), "callbacks first")
        done = subprocess.run([program, "--profiler", "nosuch"], capture_output=True, text=True, check=False)
        check(done.returncode and "no profiler 'nosuch': there are simple, advanced" in done.stderr, done.stderr)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return counts[False] != 0


sys.exit(main())
