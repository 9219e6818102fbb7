#!/usr/bin/env python3
"""Whether every printed share is a sum, and equal things have equal numbers, for every golden trace.

A sentence has the share of its cells, the account's rows sum to it, parts sum to the loop by its steps, the overview has
the parts of the summary, operators are at most all of the loop, and what the account and the parts both have is the same.

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


def overview_of(dwell, trace):
    """The tables of the overview by part, with rows as dicts."""
    done = subprocess.run([dwell, "report", "--format", "json", "--limit", "all", trace], capture_output=True, text=True, check=True)
    return {view.get("part"): [dict(zip([column["name"] for column in view["columns"]], row)) for row in view["rows"]]
            for view in json.loads(done.stdout)["views"]}


def wrong_parts(summary, overview):
    """What does not sum, or differs between two places that say the same."""
    parts, steps, run = {part["name"]: part for part in summary["parts"]}, summary["steps"], overview["run"][0]
    least = 1 + len(parts)  # ns: each is rounded
    if parts and abs(sum(part["share"] or 0 for part in parts.values()) - 1) > 1e-6:
        yield "shares of the parts do not sum to 1"
    if parts and steps and abs(sum(part["ns"] for part in parts.values()) - steps["mean_ns"]) > least:
        yield "parts do not sum to a step"
    if steps and abs(steps["loops_ns"] - steps["mean_ns"] * (steps["ended"] + steps["summarised"])) > steps["count"] + steps["summarised"]:
        yield "steps times their mean are not the loops"
    for key in ("loops_ns", "mean_ns", "p50_ns", "p95_ns", "p99_ns"):
        if steps and steps[key] != run[key]:
            yield f"{key} is {steps[key]} and {run[key]}"
    for row in overview.get("breakdown", []):
        if row["name"] in parts and (abs(row["per_step_ns"] - parts[row["name"]]["ns"]) > 1 or row["share"] != parts[row["name"]]["share"]):
            yield f"{row['name']} is {row['share']} in the overview and {parts[row['name']]['share']} in the summary"
    for table in ("operators", "actions", "layers", "functions"):
        if sum(row.get("share") or 0 for row in overview.get(table, [])) > 1 + 1e-6:
            yield f"self times of {table} are more than all"
    if not steps or steps["loops"] > 1 or run["steps_recorded"] < steps["count"]:
        return  # the account is of one loop, and has steps without records as such
    for row in summary["account"]["rows"]:
        if row["name"] in parts and row["share"] is not None and abs(row["share"] - (parts[row["name"]]["share"] or 0)) > 1e-6:
            yield f"{row['name']} is {row['share']} in the account and {parts[row['name']]['share']} in the parts"


def wrong_ends(overview, heads):
    """The parts of the run sum to it, and the first sentence has the sum of its phase."""
    rows, phase = overview["ends"], "start-up" if heads[0].startswith("Start-up takes") else "end"
    share = sum(row["share"] for row in rows if row["phase"] == phase)
    if abs(sum(row["share"] for row in rows) - 1) > 1e-6:
        yield "parts of the run do not sum to it"
    if f" {100 * share:.0f}% of the run" not in heads[0]:
        yield f"{heads[0]} has rows of {share}"
    for row in rows:
        name = row["part"].removeprefix(f"{phase}: ")
        if row["phase"] == phase and (row["samples"] or 0) >= 3 and row["share"] >= 0.1 * share and name not in heads[0] and len(rows) < 6:
            yield f"{heads[0]} does not name {name}"
    if sum(row["part"] == "steps" for row in rows) != 1 or rows != sorted(rows, key=lambda row: ["start-up", "steps", "end"].index(row["phase"])):
        yield "parts of the run are not in order"


def main():
    dwell, mktrace = map(os.path.abspath, sys.argv[1:])
    passed = failed = found = ends = 0
    for source in sorted(glob.glob(os.path.join(TRACES, "*.txt"))):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "t.dwell")
            if subprocess.run([mktrace, source, trace], capture_output=True, check=False).returncode:
                continue  # made in another way
            done = subprocess.run([dwell, "report", "--summary", "--format", "json", trace], capture_output=True, text=True, check=True)
            overview = overview_of(dwell, trace)
        summary = json.loads(done.stdout)
        wrong = list(wrong_parts(summary, overview))
        if "ends" in overview:
            ends += 1
            wrong += wrong_ends(overview, summary["sentences"])
        passed, failed = passed + (not wrong), failed + bool(wrong)
        for text in wrong:
            print(f"FAILED {os.path.basename(source)}: {text}")
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
    few = found < LEAST or not ends
    if few:
        print(f"FAILED only {found} sentences have cells, and {ends} traces a table of the run's parts")
    print(f"{passed} passed, {failed + few} failed")
    return failed > 0 or few


if __name__ == "__main__":
    sys.exit(main())
