#!/usr/bin/env python3
"""PyTorch's profiler recipe in C: its eight steps print and write what they should.

usage: recipe_test.py RECIPE DWELL          last line: N passed, N failed
"""
import json
import os
import re
import subprocess
import sys
import tempfile

RECIPE, DWELL = map(os.path.abspath, sys.argv[1:3])
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def rows(profile):
    output = subprocess.run([DWELL, "report", "--view", "operators", "--format", "json", "--profile",
                             profile, "recipe.dwell"], capture_output=True, text=True, check=True).stdout
    view = json.loads(output)["views"][0]
    names = [column["name"] for column in view["columns"]]
    return [dict(zip(names, row)) for row in view["rows"]]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    run = subprocess.run([RECIPE, folder], capture_output=True, text=True, check=False)
    check("it succeeds: " + run.stderr, run.returncode == 0)
    check("one warning, about CUDA", run.stderr.count("\n") == 1 and "CUDA" in run.stderr)
    steps = re.split(r"^(\d)\. .*$", run.stdout, flags=re.M)
    steps = dict(zip(steps[1::2], steps[2::2]))
    check("steps 3 to 8", sorted(steps) == list("345678"))
    check("times by name and by shape", steps["3"].count("Self CPU time total") == 2)
    check("20 convolutions", re.search(r"^ +convolution .* 20  $", steps["3"], re.M))
    # Which convolutions take longest, and are listed, is the machine's.
    check("shapes", re.search(r"\[\[5, \d+, \d+, \d+\], \[\d+, \d+, 3, 3\], \[5, \d+, \d+, \d+\]\]",
                              steps["3"]))
    check("memory", steps["4"].count("Self CPU Mem") == 2)
    check("and only where it was asked for", not any("CPU Mem" in steps[number] for number in "3678"))
    check("stacks name functions", re.search(r"convolution .*\n.*graph_run", steps["6"]))
    check("two cycles", re.findall(r"recipe_(\d)\.json", steps["8"]) == ["4", "8"])
    for name in ("recipe.json", "recipe_4.json", "recipe_8.json"):
        with open(name, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        marks = sorted({event["name"] for event in events if event["name"].startswith("ProfilerStep#")})
        wanted = {"recipe.json": [], "recipe_4.json": ["ProfilerStep#2", "ProfilerStep#3"],
                  "recipe_8.json": ["ProfilerStep#6", "ProfilerStep#7"]}[name]
        check(f"{name} has the steps {wanted}", marks == wanted)
    with open("recipe_stacks.txt", encoding="utf-8") as file:
        check("stacks with their time", re.match(r"^\S.*;main;.* \d+$", file.readline()))
    with open("recipe.svg", encoding="utf-8") as file:
        svg = file.read()
    check("a picture", "<svg" in svg[:200])
    check("a picture with its title", "CPU time" in svg)
    for profile, inferences in (("time", 1), ("memory", 1), ("stacks", 1), ("long", 4)):
        calls = {row["name"]: row["calls"] for row in rows(profile)}
        check(f"profile {profile} saw {inferences} inferences", calls.get("convolution") == 20 * inferences)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
