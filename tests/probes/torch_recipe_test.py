#!/usr/bin/python3
"""PyTorch's recipe with one import changed: the same tables, columns and calls, the same files.

usage: torch_recipe_test.py BUILD_FOLDER PACKAGE_FOLDER        last line: N passed, N failed
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import built
import installed

BUILD, PACKAGE = map(os.path.abspath, sys.argv[1:3])
built.enter(BUILD, PYTHONPATH=PACKAGE)
installed.need("torch")

RECIPE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "pytorch", "recipe.py")
LONGEST = {"model_inference", "aten::conv2d", "aten::convolution", "aten::_convolution", "aten::mkldnn_convolution"}
counts = {True: 0, False: 0}


def check(what, good, said=""):
    counts[bool(good)] += 1
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {said}"))


def run(folder, *options):
    os.makedirs(folder)
    done = subprocess.run([sys.executable, RECIPE, *options, folder], capture_output=True, text=True, check=False)
    check(f"recipe.py {' '.join(options)} ends well", done.returncode == 0 and "Exception ignored" not in done.stderr,
          done.stderr[-500:])
    steps = re.split(r"^(\d)\. .*$", done.stdout, flags=re.M)
    return dict(zip(steps[1::2], steps[2::2]))


def headings(text):
    return [re.split(r"  +", line.strip()) for line in text.splitlines() if re.match(r" +Name  ", line)]


def calls(text):
    """(name, calls) of a text's first table, as a set: the order goes by times."""
    table = text.split("Self CPU time total")[0]
    return set(re.findall(r"^ *(\S+)  .*  (\d+) *$", table, re.M))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        theirs, ours = run("theirs"), run("ours", "--dwell")
        check("steps 3 to 8", sorted(theirs) == sorted(ours) == list("345678"), (sorted(theirs), sorted(ours)))
        for step in "3458":
            check(f"step {step}: the same columns", headings(ours[step]) == headings(theirs[step]),
                  (headings(ours[step]), headings(theirs[step])))
        # Since 2.x PyTorch keeps no stacks unless it is asked for in another way.
        stacks = [[name for name in heading if name != "Source Location"] for heading in headings(theirs["6"])]
        check("step 6: the same columns, and the stacks",
              headings(ours["6"]) == [heading + ["Source Location"] for heading in stacks], headings(ours["6"]))
        # The ten that took longest; which they are hangs on the machine, but for the convolutions.
        mine, his = dict(calls(ours["3"])), dict(calls(theirs["3"]))
        check("step 3: the same calls", LONGEST <= mine.keys() & his.keys() and
              all(mine[name] == his[name] for name in mine.keys() & his.keys()), (mine, his))
        for name in ("recipe.json", "recipe_4.json", "recipe_8.json"):
            seen = []
            for who in ("theirs", "ours"):
                with open(os.path.join(who, name), encoding="utf-8") as file:
                    events = json.load(file)
                events = events if isinstance(events, list) else events["traceEvents"]  # a list in 1.13
                seen.append(sum(event.get("name") == "aten::conv2d" for event in events))
            check(f"{name}: the same number of convolutions", seen[0] == seen[1] > 0, seen)
        if os.path.exists("theirs/recipe_stacks.txt"):
            with open("ours/recipe_stacks.txt", encoding="utf-8") as file:
                check("stacks with their time", re.match(r"^\S.*;\S.* \d+$", file.readline()))
    print(f"{counts[True]} passed, {counts[False]} failed")
    return counts[False] != 0


if __name__ == "__main__":
    sys.exit(main())
