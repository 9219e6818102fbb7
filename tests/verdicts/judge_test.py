#!/usr/bin/env python3
"""Tests how verdicts are counted, on verdicts made by hand. Needs neither dwell nor PyTorch."""
import ast
import json
import os
import re
import sys

import judge
import matrix
from scenarios import ALWAYS, RULES, SCENARIOS, SUBSET, Scenario

HERE = os.path.dirname(os.path.abspath(__file__))
failed = passed = 0


def check(what, holds):
    global failed, passed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print("FAIL " + what)


def rows(*names, gain_ns=0, statement=""):
    return [{"rule": name, "gain_ns": gain_ns, "statement": statement} for name in names]


def truth(share=0.3, **more):
    return {"share": share, "planted_ms": 3.0, "mean_ms": 10.0, "step_ms": 10.0, **more}


def scenario(rules=("idle",), kind="strong", **facts):
    return Scenario("a.strong", "a.py", "a", 0.4, kind, rules=rules, **facts)


def outcomes(case, told, reported):
    judgement = judge.judge(case, told, reported)
    return {rule: outcome for rule, outcome in judgement.outcomes.items() if outcome != "right"}, judgement.first_right


def test_judge():
    case = scenario(also=("logging",), first=("python",))
    check("a planted rule that is reported is found", outcomes(case, truth(), rows("idle")) == ({"idle": "found"}, True))
    check("one that is not reported is missed",
          outcomes(case, truth(), rows("collector")) == ({"idle": "missed", "collector": "false"}, False))
    check("a rule that is true besides does not count",
          outcomes(case, truth(), rows("idle", "logging")) == ({"idle": "found"}, True))
    check("but it is not the first sentence", outcomes(case, truth(), rows("logging", "idle"))[1] is False)
    check("unless it is said to be", outcomes(case, truth(), rows("python", "idle")) == ({"idle": "found"}, True))
    check("a cause under the deadband need not be reported", outcomes(case, truth(0.03), rows()) == ({}, True))
    check("a cause between the limits may be", outcomes(case, truth(0.06), rows("idle")) == ({}, True))
    check("or may not", outcomes(case, truth(0.06), rows("compute")) == ({}, True))
    check("but no other", outcomes(case, truth(0.06), rows("drift")) == ({"drift": "false"}, False))
    check("a rule that the list lacks is false", outcomes(case, truth(), rows("idle", "ghost"))[0].get("ghost") == "false")
    either = scenario(("allocator|page-faults",))
    check("either of two is enough", outcomes(either, truth(), rows("page-faults")) == ({"page-faults": "found"}, True))
    check("neither is one miss", outcomes(either, truth(), rows())[0].get("allocator") == "missed")
    clean = scenario((), "clean")
    check("nothing stands out", outcomes(clean, truth(0), rows("compute")) == ({"compute": "found"}, True))
    check("an information before it does not change it", outcomes(clean, truth(0), rows("warm-up", "compute"))[0]
          == {"compute": "found"})
    check("no row says the same", outcomes(clean, truth(0), rows()) == ({"compute": "found"}, True))
    check("a false alarm", outcomes(clean, truth(0), rows("idle")) == ({"idle": "false", "compute": "missed"}, False))
    limited = scenario(only_if=("ratio", 0.7))
    check("a condition that does not hold", outcomes(limited, truth(ratio=0.9), rows("compute")) == ({}, True))
    check("a condition that holds", outcomes(limited, truth(ratio=0.5), rows("compute"))[0].get("idle") == "missed")


def test_kinds():
    for rule, coarser in judge.KINDS.items():
        for kind, why in coarser.items():
            case = scenario((kind,))
            check(f"{rule} counts as {kind}, and says why", why)
            if kind != "compute":
                check(f"{rule} is found as {kind}", outcomes(case, truth(), rows(rule)) == ({kind: "found"}, True))
                check(f"{rule} is true besides as {kind}",
                      outcomes(scenario(also=(kind,)), truth(), rows("idle", rule)) == ({"idle": "found"}, True))
        if "compute" not in coarser:
            check(f"{rule} is false where none of its kinds is true",
                  outcomes(scenario(("drift",)), truth(), rows("drift", rule))[0] == {"drift": "found", rule: "false"})
            check(f"{rule} is a false alarm", outcomes(scenario((), "clean"), truth(0), rows(rule))[0].get(rule) == "false")
    check("a coarser rule is not a finer one", outcomes(scenario(("waiting-file",)), truth(), rows("idle"))[0].get("waiting-file") == "missed")
    check("where the work is, is no cause", outcomes(scenario((), "clean"), truth(0), rows("own-code")) == ({"compute": "found"}, True))
    check("and finds none", outcomes(scenario(), truth(), rows("own-code")) == ({"idle": "missed", "compute": "false"}, False))
    part = scenario(("named-part",))
    here, nowhere = "Locks, most of it in the range metrics at a.c:7.", "Locks, most of it in fetch (a.c:7)."
    check("a wait in a range names the range", outcomes(part, truth(), rows("waiting-lock", statement=here)) == ({"named-part": "found"}, True))
    check("without the range it does not", outcomes(part, truth(), rows("waiting-lock", statement=nowhere))[0].get("named-part") == "missed")
    check("nor does another rule", outcomes(part, truth(), rows("drift", statement=here))[0].get("named-part") == "missed")
    check("where no range is a cause, it is none", outcomes(scenario(("drift",)), truth(), rows("drift", "waiting-lock", statement=here))[0]
          == {"drift": "found", "waiting-lock": "false"})


def test_numbers():
    low, high = judge.wilson(19, 20)
    check("Wilson's interval of 19 in 20", abs(low - 0.7639) < 1e-3 and abs(high - 0.9911) < 1e-3)
    check("no interval of nothing", judge.wilson(0, 0) is None)
    fault, clean = scenario(clean="a.clean"), Scenario("a.clean", "a.py", "a", 0, "clean")
    found = judge.gains([(fault, truth(), rows("idle", gain_ns=4e6)), (clean, truth(0) | {"mean_ms": 7.5}, rows())])
    check("one gain", len(found) == 1 and found[0].rule == "idle")
    check("against the planted time", found[0].near(found[0].planted) and abs(found[0].planted - 3) < 1e-9)
    check("against the run without the fault", abs(found[0].removed - 2.5) < 1e-9 and not found[0].near(found[0].removed))


def test_page():
    runs = [(case, {"truth": truth(case.share), "rows": rows(*(names[0] for names in case.expected()))}) for case in SCENARIOS]
    runs.append((SCENARIOS[0], {"error": "exit status 1"}))
    page = matrix.Page(runs, {"processor": "X", "cores": 2})
    check("what is right everywhere has a recall of 100%", page.total.recall()[0] == page.total.recall()[1] > 150)
    check("and no rule is false", page.total.of["false"] == 0)
    check("an error is said", "exit status 1" in page.text())
    check("the page says that no scenario is wrong", page.markdown().endswith("None.\n"))
    planted = next(case for case in SCENARIOS if case.expected())
    wrong = matrix.Page([(planted, {"truth": truth(planted.share), "rows": rows()})], {}).markdown()
    check("or which one", f"| {planted.name} |" in wrong and "first sentence; MISSED" in wrong.replace("missed", "MISSED"))
    check("a pipe in a cell is escaped", "allocator\\|page-faults" in page.markdown())


def test_scenarios():
    names = [case.name for case in SCENARIOS]
    check("each scenario has its own name", len(set(names)) == len(names) >= 100)
    check("the subset's names exist", SUBSET <= set(names))
    planted = {rule for case in SCENARIOS for rule in case.named()}
    check("each rule is planted", planted | {"compute"} | ALWAYS == set(RULES))
    check("no rule outside the list", all(case.allowed() <= set(RULES) for case in SCENARIOS))
    check("what a gain is measured against exists", all(not case.clean or case.clean in names for case in SCENARIOS))
    for script in sorted({case.script for case in SCENARIOS}):
        with open(os.path.join(HERE, script), encoding="utf-8") as file:
            text = file.read()
        head = ast.get_docstring(ast.parse(text)) if script.endswith(".py") else text[:text.index("*/")]
        for cause in sorted({case.cause for case in SCENARIOS if case.script == script} - {"none"}):
            check(f"{script}: its head explains {cause}", re.search(rf"(?<![\w-]){re.escape(cause)}(?![\w-])", head))


def main():
    test_judge()
    test_kinds()
    test_numbers()
    test_page()
    test_scenarios()
    json.dumps(matrix.Page([], {}).by_rule())
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
