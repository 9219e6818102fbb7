#!/usr/bin/env python3
"""Tests how verdicts on held-out scripts are counted, on verdicts made by hand. Needs neither dwell nor PyTorch."""
import ast
import os
import sys

import heldout_set
from heldout_set import Case, Page, judge
from judge import RULES_OF_TRUTHS

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
    check("what failed to run is listed", "not counted: stopped" in text)


def test_set(name):
    cases, folder = heldout_set.load(name), heldout_set.folder_of(name)
    files = {file for file in os.listdir(folder) if file.endswith((".py", ".c", ".cpp"))} - {"stopwatch.py"} if os.path.isdir(folder) else set()
    check(f"{name}: each script is in the set once", sorted(case.source for case in cases) == sorted(files))
    for case in cases:
        known = RULES_OF_TRUTHS | heldout_set.NOT_JUDGED
        first = [] if case.first in (None, "any") else case.first
        named = {rule for rules in case.causes() for rule in rules} | set(case.also) | set(first)
        check(f"{case.source}: {named - known} is no rule", named <= known)
        check(f"{case.source} is {case.kind}", case.kind in heldout_set.KINDS)
        check(f"{case.source} plants a cause, or none", bool(case.true) == (case.kind == "planted"))
        with open(os.path.join(case.folder, case.source), encoding="utf-8") as file:
            text = file.read()
        if case.source.endswith(".py"):
            words = ast.get_docstring(ast.parse(text))
            check(f"{case.source} says what it measures", "Truth:" in words)
            check(f"{case.source} says what it plants", sum(word in words for word in ("Planted:", "Decoy", "Clean:")) == 1)


def test_sets():
    check("a set that does not exist is empty", heldout_set.load("heldout", os.path.join(heldout_set.HERE, "nowhere")) == [])
    for name in heldout_set.SETS:
        test_set(name)


def main():
    test_judge()
    test_page()
    test_sets()
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
