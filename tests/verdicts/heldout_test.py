#!/usr/bin/env python3
"""Tests how verdicts on held-out scripts are counted, on verdicts made by hand. Needs neither dwell nor PyTorch."""
import ast
import collections
import json
import os
import re
import sys

import heldout_set
from heldout_set import Case, Page, judge
from judge import RULES_OF_TRUTHS
from scenarios import SCENARIOS

SOURCES = (".py", ".c", ".cpp")
MOST_PROGRAMS = 80  # with those of the matrix and those without a mark; git has the others

failed = passed = 0


def check(what, holds):
    global failed, passed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print("FAIL " + what)


def run(*rules, share=0.3, **more):
    return {"truth": {"share": share, **more}, "rows": [{"rule": rule, "statement": f"It is {rule}."} for rule in rules]}


def planted(true=("idle",), **facts):
    return Case("folder", "a.py", "planted", "a sleep", list(true), **facts)


def counted(case, one):
    outcome = judge(case, one)
    return outcome.found, outcome.missed, outcome.false, outcome.first_right


def test_judge():
    check("a planted rule is found", counted(planted(), run("idle")) == (["idle"], [], [], True))
    check("or missed, and another one is false", counted(planted(), run("python")) == ([], ["idle"], ["python"], False))
    check("a rule that is true besides is not false", counted(planted(also=["python"]), run("idle", "python")) == (["idle"], [], [], True))
    check("but not the first sentence", counted(planted(also=["python"]), run("python", "idle"))[3] is False)
    check("unless it may be first", counted(planted(also=["python"], first=["python"]), run("python", "idle"))[3] is True)
    check("one of two rules is enough", counted(planted(["allocator|page-faults"]), run("page-faults")) == (["allocator|page-faults"], [], [], True))
    check("any first sentence", counted(planted(first="any"), run("compute")) == ([], ["idle"], [], True))
    check("what is not judged is not false", counted(planted(), run("idle", "roofline"))[2] == [])
    check("nor is it the first sentence", counted(planted(), run("warm-up", "idle"))[3] is False)
    check("no rule at all is a miss", counted(planted(), run()) == ([], ["idle"], [], False))
    check("a rule counts as a coarser one", counted(planted(), run("sleeping")) == (["idle"], [], [], True))
    check("and is true besides as one", counted(planted(also=["logging"]), run("idle", "text")) == (["idle"], [], [], True))
    check("or false", counted(planted(), run("idle", "spinning")) == (["idle"], [], ["spinning"], True))
    clean = Case("folder", "b.py", "clean", "nothing")
    check("where the work is, is nothing that stands out", counted(clean, run("own-code", share=0.01)) == ([], [], [], True))
    check("nothing stands out", counted(clean, run("compute", share=0.01)) == ([], [], [], True))
    check("the largest operator may be named", counted(clean, run("one-operator", share=0.01))[3] is True)
    check("a false rule in a clean script", counted(clean, run("python", share=0.01)) == ([], [], ["python"], False))
    check("page faults are false", counted(clean, run("compute", "page-faults", share=0.01))[2] == ["page-faults"])
    check("unless the kernel took long", counted(clean, run("compute", "page-faults", share=0.01, system_share=0.1))[2] == [])
    check("too little was planted", judge(planted(), run("idle", share=0.05)).why_not)
    check("a clean script was not clean", judge(clean, run("compute", share=0.2)).why_not)
    check("a script that failed", judge(clean, {"error": "exit status 1"}).why_not == "exit status 1")


def test_page():
    runs = [(planted(), run("idle")), (planted(), run("python")), (planted(), {"error": "stopped"}),
            (Case("folder", "b.py", "clean", "a perceptron"), run("compute", share=0))]
    page = Page(runs, {})
    summary = dict(page.summary())
    check("right in all", summary["verdicts that are right in all"].startswith("2 of 3: 67% ("))
    check("causes named", summary["planted causes that are named"].startswith("1 of 2: 50% ("))
    check("precision", summary["judged rules that name a planted cause"].startswith("1 of 2: 50% ("))
    text = page.markdown()
    check("a failure is described", "### a.py" in text and "- `python`: It is python." in text and "Wanted: idle." in text)
    check("what failed to run is listed", "Not counted: a.py: stopped." in text)


def test_truth(case):
    known = RULES_OF_TRUTHS | heldout_set.NOT_JUDGED
    first = [] if case.first in (None, "any") else case.first
    named = {rule for rules in case.causes() for rule in rules} | set(case.also) | set(first)
    check(f"{case.source}: {named - known} is no rule", named <= known)
    check(f"{case.source} is {case.kind}", case.kind in heldout_set.KINDS)
    check(f"{case.source} plants a cause, or none", bool(case.true) == (case.kind == "planted"))


def test_stored():
    cases = heldout_set.stored()
    check("each name is in the list once", len({case.name for case in cases}) == len(cases))
    check("the list is by set and name", [case.name for case in cases] == [case.name for case in sorted(cases, key=lambda case: (case.set, case.source))])
    sizes = collections.Counter(case.set for case in cases)
    with open(os.path.join(heldout_set.STORE, "sets.json"), encoding="utf-8") as file:
        sets = json.load(file)
    check("each set has its figure", [entry["set"] for entry in sets] == sorted(set(sizes) - {0}))
    for entry in sets:
        check(f"set {entry['set']}: not more scripts than there were", sizes[entry["set"]] <= entry["scripts"])
        check(f"set {entry['set']}: as many are right as counted, at most", 0 < entry["right"] <= entry["of"] <= entry["scripts"])
    for case in cases:
        check(f"{case.source}: git has it at {case.at}", re.fullmatch(r"[0-9a-f]{10}:tests/verdicts/\w+/", case.at))
        test_truth(case)


def test_programs():
    """Those of the tree, which are the way from a program to its account."""
    cases = heldout_set.programs()
    files = {file for file in os.listdir(heldout_set.PROGRAMS) if file.endswith(SOURCES)} - {"stopwatch.py"}
    check("each program is in the list", sorted(case.source for case in cases) == sorted(files))
    for case in cases:
        with open(case.script, encoding="utf-8") as file:
            text = file.read()
        if case.source.endswith(".py"):
            words = ast.get_docstring(ast.parse(text))
            check(f"{case.source} says what it measures", "Truth:" in words)
            check(f"{case.source} says what it plants", sum(word in words for word in ("Planted:", "Decoy", "Clean:")) == 1)
    all_scripts = [os.path.join(folder, name) for folder, _, names in os.walk(heldout_set.HERE) for name in names if name.endswith(SOURCES)]
    helpers = {name for name in os.listdir(heldout_set.HERE) if name.endswith(".py")} - {scenario.script for scenario in SCENARIOS} | {"stopwatch.py"}
    planting = [path for path in all_scripts if os.path.basename(path) not in helpers]
    check(f"{len(planting)} scripts are in the tree: more than {MOST_PROGRAMS}", len(planting) <= MOST_PROGRAMS)
    check("of every kind and language", {(case.kind, os.path.splitext(case.source)[1] == ".py") for case in cases} ==
          {(kind, python) for kind in heldout_set.KINDS for python in (True, False)})


def test_sets():
    check("a set that does not exist is empty", heldout_set.load(os.path.join(heldout_set.HERE, "nowhere")) == [])
    test_stored()
    test_programs()


def main():
    test_judge()
    test_page()
    test_sets()
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
