#!/usr/bin/env python3
"""The same work with the builds of two commits, in turns on one machine, as a table of medians.

usage: bench/turns.py BEFORE NOW PYTHON TRACE.json.gz [ROUNDS]

BEFORE and NOW are folders of builds with the same options, in checkouts of two commits; the benchmarks are built in them
(ninja bench/reader_speed bench/many_paths). PYTHON has PyTorch; the trace is one of Kineto. 5 rounds: in each, every
measurement runs with both builds, and the next round begins with the other one. Writes bench/results/turns.json, from
which `tools/generate` makes the table of doc/measured/account.md. The machine must be quiet.
"""
import collections
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

DIGITS = {"range": 2, "two": 2, "report": 2, "flames": 2, "torch": 0, "kineto": 0, "operators": 0, "tree": 0, "stack": 0, "step": 0, "waiting": 0}


def run(*command, folder=None):
    return subprocess.run(command, check=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def seconds(*command):
    began = time.monotonic()
    run(*command)
    return time.monotonic() - began


def of_records(build, folder):
    """Nanoseconds of single records, ranges as multiples of two readings of the clock in the same run."""
    found = {line.split()[0]: float(line.split()[1]) for line in run(os.path.join(build, "bench/bench_cost"), folder=folder).splitlines()}
    return {"range": found["range"] / found["floor"], "two": found["range2"] / found["floor2"], "stack": found["stack"],
            "step": found["step"], "waiting": found["idle"]}


def of_starts(build, folder, python):
    """Milliseconds that a program takes longer under dwell run."""
    under = [os.path.join(build, "dwell"), "run", "-o", os.path.join(folder, "start.dwell"), "--"]
    times = {}
    for name, command, runs in (("true", ["true"], 9), ("pass", [python, "-c", "pass"], 5), ("torch", [python, "-c", "import torch"], 3)):
        pairs = [(seconds(*command), seconds(*under, *command)) for _ in range(runs)]
        times[name] = 1000 * statistics.median(recorded - alone for alone, recorded in pairs)
    return times


def of_reader(build, folder):
    """Million events a second."""
    text = run(os.path.join(build, "bench/reader_speed"), "10000000", os.path.join(folder, "read.dwell"), folder=folder)
    rates = {}
    for name, product in (("operators", r"operators|flat"), ("tree", r"tree")):
        found = re.search(rf"^\s*\S*(?:{product}).*?([0-9.]+)\s*(?:M|million) events?/s", text, re.M)
        rates[name] = float(found.group(1))
    return rates


def of_files(build, folder, trace):
    """Seconds of a report of a large trace, of a flame graph, and of the import of a trace of Kineto."""
    dwell, large, many = os.path.join(build, "dwell"), os.path.join(folder, "large.dwell"), os.path.join(folder, "many.dwell")
    if not os.path.exists(large):
        run(os.path.join(build, "bench/reader_speed"), "85000000", large, folder=folder)
        run(os.path.join(build, "bench/many_paths"), "stacks", "1000000", many)
    return {"report": seconds(dwell, "report", large),
            "flames": seconds(dwell, "export", many, "--format", "flamegraph", "--metric", "self_cpu"),
            "kineto": seconds(dwell, "import", trace, "-o", os.path.join(folder, "kineto.dwell"))}


def write(builds, rounds, medians):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../CHANGELOG.md"), encoding="utf-8") as file:
        release = re.search(r"^## \[([^\]]+)\]", file.read(), re.M).group(1)
    commits = [run("git", "-C", build, "rev-parse", "--short=8", "HEAD").strip() for build in builds]
    figures = {name + after: f"{value:.{DIGITS.get(name, 1)}f}" for one, after in zip(medians, ("_before", "")) for name, value in one.items()}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "results/turns.json"), "w", encoding="utf-8") as file:
        json.dump({"date": time.strftime("%Y-%m-%d"), "commit": commits[1], "release": release,
                   "machine": f"{os.cpu_count()} cores, Linux {platform.release().split('-')[0]}",
                   "note": f"In turns with commit {commits[0]}, medians of {rounds} rounds. Load at the end {os.getloadavg()[0]:.1f}.",
                   "figures": figures}, file, indent=1)
        file.write("\n")


def main():
    builds = [os.path.abspath(build) for build in sys.argv[1:3]]
    python, trace = sys.argv[3], sys.argv[4]
    rounds = int(sys.argv[5]) if len(sys.argv) > 5 else 5
    found = [collections.defaultdict(list), collections.defaultdict(list)]
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "kineto.json")
        with open(plain, "wb") as file:
            subprocess.run(["gzip", "-dc", trace], stdout=file, check=True)
        for number in range(rounds):
            for which in (0, 1)[::1 if number % 2 else -1]:
                build, results = builds[which], {}
                results.update(of_records(build, folder))
                results.update(of_starts(build, folder, python))
                results.update(of_reader(build, folder))
                results.update(of_files(build, folder, plain))
                for name, value in results.items():
                    found[which][name].append(value)
        size = os.path.getsize(plain) / 1e6
    medians = [{name: statistics.median(values) for name, values in one.items()} for one in found]
    for one in medians:
        one["kineto"] = size / one["kineto"]  # MB/s
    write(builds, rounds, medians)
    for name in medians[0]:
        print(f"{name:10} {medians[0][name]:10.3f} {medians[1][name]:10.3f}")


if __name__ == "__main__":
    main() if len(sys.argv) in (5, 6) else sys.exit(__doc__)
