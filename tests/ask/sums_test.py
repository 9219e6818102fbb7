#!/usr/bin/env python3
"""Whether every printed share is a sum, and equal things have equal numbers, for every golden trace.

A sentence has the share of its cells or of the rows that it is about, and these rows are in a table below it. The account's rows sum to
it, parts sum to the loop by its steps, the overview has the parts of the summary, the phases and operators those of the overview,
operators are at most all of the loop. No gain is more than a step, or than its sentence's share of it.

usage: sums_test.py DWELL MKTRACE
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden/views")
VIEWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/output/views/views.def")
LEAST = 2  # traces that have such a sentence
CLOSE = 1e-6
NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
FOLDED = 0.005  # the account in an overview sums up smaller rows
# What no row of a table is about: a length beyond the usual one, a group of operators, time that ranks wait for each other, bytes,
# the time between steps whatever it has, all that is work, what recording takes.
OF_FACTS = {"slow-steps", "warm-up", "drift", "change-point", "input-size-variance", "first-shapes", "compilation",
            "small-operators", "layout-copies", "precision", "memory-bound-chain", "half-precision", "roofline", "synchronising-call",
            "rank-waits", "memory-growth", "memory-limit", "memory-owners", "memory-room", "memory-temporaries", "between-steps", "compute",
            "oversubscribed", "thread-count", "profiler-cost", "loader-restart", "loader-part", "evaluation-graphs", "logging"}


def tables_of(dwell, trace, view="overview"):
    """The tables of a view by part, with rows as dicts; nothing if it has none of this trace."""
    done = subprocess.run([dwell, "report", "--view", view, "--format", "json", "--limit", "all", trace], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        return {}
    return {view.get("part"): [dict(zip([column["name"] for column in view["columns"]], row)) for row in view["rows"]]
            for view in json.loads(done.stdout)["views"]}


def wrong_parts(summary, overview):
    """What does not sum, or differs between two places that say the same."""
    parts, steps, run = {part["name"]: part for part in summary["parts"]}, summary["steps"], overview["run"][0]
    least = 1 + len(parts)  # ns: each is rounded
    if parts and abs(sum(part["share"] or 0 for part in parts.values()) - 1) > CLOSE:
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
        if sum(row.get("share") or 0 for row in overview.get(table, [])) > 1 + CLOSE:
            yield f"self times of {table} are more than all"
    if not steps or steps["loops"] > 1:
        return  # the account is of one loop
    for row in summary["account"]["rows"]:
        if row["name"] in parts and row["share"] is not None and abs(row["share"] - (parts[row["name"]]["share"] or 0)) > CLOSE:
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


def wrong_phases(summary, phases):
    """The phases have exact times of the recorded steps, and waits of Python are its own. Between steps lies more of a part."""
    steps, parts = summary["steps"], {part["name"]: part["ns"] for part in summary["parts"] if not part["own"]}
    if not phases or not steps or steps["loops"] > 1 or parts.get("has no CPU"):
        return
    rows = phases[None]
    parts["python"] = parts.get("python", 0) + parts.pop("idle", 0)
    outside = {row["phase"] for row in rows if row["where"] == "outside"}
    scaled = any(row["phase"] in ("recorded without operators", "not recorded", "records are missing") for row in rows)
    for row in rows:
        name = row["phase"]
        if row["where"] == "steps" and name in parts and name not in outside and not scaled and \
                abs(row["per_step_ns"] - parts[name]) > 1 and steps["ended"] == steps["count"]:
            yield f"{name} takes {row['per_step_ns']} ns a step in the phases and {parts[name]} in the overview"


def wrong_operators(overview, operators):
    """The view has the overview's shares and times of a step."""
    of_view = {row["name"]: row for row in operators.get(None, [])}
    for row in overview.get("operators", []):
        other = of_view.get(row["name"])
        if other and row["share"] is not None and "loop_share" in other and \
                (abs(other["loop_share"] - row["share"]) > CLOSE or abs(other["self_per_step_ns"] - row["self_per_step_ns"]) > 1):
            yield f"{row['name']} is {row['share']} in the overview and {other['loop_share']} in the operators"


def rows_of(summary, overview):
    """The share of each row that a sentence may be about, by the table and the name."""
    account = summary["account"]
    tables = {"parts": summary["parts"], "operators": overview.get("operators", []), "device": overview.get("device", []),
              "cells": account["rows"] + account["ranges"]}
    return {(table, row["name"]): row["share"] for table, rows in tables.items() for row in rows if row["share"] is not None}


def wrong_share(verdict, rows, iterations):
    """What a sentence's share is not the sum of; None if it is."""
    names, tables = verdict["rows"] or verdict["cells"], ("parts", "operators", "device") if verdict["rows"] else ("cells",)
    if not names:
        return None if verdict["rule"] in OF_FACTS or iterations == 0 else "is of no cells and of no rows (if so, add it to OF_FACTS of sums_test.py)"
    sums = [sum(rows.get((table, name), 1e9) for name in names) for table in tables]
    return None if any(abs(one - verdict["share"]) < CLOSE for one in sums) else f"is {verdict['share']}, and {names} are {sums}"


def wrong_verdicts(summary, overview):
    rows, steps, account = rows_of(summary, overview), summary["steps"], overview.get("account", [])
    loop_ns = summary["loop_ns"]
    own_ns = (loop_ns or 0) - sum(part["ns"] for part in summary["parts"] if part["share"] is None)
    for verdict in summary["verdicts"]:
        reason = wrong_share(verdict, rows, steps["count"] if steps else 0)
        if reason:
            yield f"{verdict['statement']} {reason}"
        if steps and verdict["of"] not in ("of the loop", "of the peak", "of the memory", "of a steady step"):
            yield f"{verdict['statement']} is {verdict['of']}"
        most_ns = own_ns if verdict["rows"] or verdict["cells"] else loop_ns
        if verdict["gain_ns"] is not None and loop_ns and verdict["of"] != "of a steady step" and \
                verdict["gain_ns"] > most_ns * min(1, verdict["share"] + CLOSE) + 1:
            yield f"{verdict['statement']} may save {verdict['gain_ns']} of {most_ns} ns"
        shown = {row["does"] for row in account} | {row["name"] for row in overview.get("breakdown", [])}
        for name in [] if verdict["rows"] or not verdict["cells"] else verdict["cells"]:
            if name not in shown and (rows.get(("cells", name)) or 0) >= FOLDED:
                yield f"{verdict['statement']} is about {name}, which no table of the overview has"
    if summary["combined_gain_ns"] is not None and loop_ns and summary["combined_gain_ns"] > loop_ns + 1:
        yield f"all of this may save {summary['combined_gain_ns']} of {loop_ns} ns"


def wrong_top(summary, dwell, trace):
    """dwell top has the report's measure of a step."""
    steps = summary["steps"]
    if not steps or steps["loops"] > 1 or steps["ended"] < steps["count"] or steps["summarised"]:
        return
    done = subprocess.run([dwell, "top", "--once", "--last", "all", trace], capture_output=True, text=True, check=False)
    said = re.search(r"([\d.]+) (\w+) a step  median ([\d.]+) (\w+)  p95 ([\d.]+) (\w+)", done.stdout)
    for i, key in enumerate(("mean_ns", "p50_ns", "p95_ns")) if said else ():
        ns = float(said[2 * i + 1]) * NS[said[2 * i + 2]]
        if abs(ns - steps[key]) > 0.01 * steps[key]:
            yield f"{key} is {ns} in dwell top and {steps[key]} in the summary"


def wrong_names(dwell, trace):
    """A table has a name for each column."""
    for name in re.findall(r"^VIEW\((\w+)", open(VIEWS, encoding="utf-8").read(), re.M) if "device" in os.path.basename(trace) else []:
        done = subprocess.run([dwell, "report", "--view", name, "--format", "json", trace], capture_output=True, text=True, check=False)
        for view in json.loads(done.stdout)["views"] if done.returncode == 0 else []:
            names = [column["name"] for column in view["columns"]]
            for column in {column for column in names if names.count(column) > 1}:
                yield f"view {name} has two columns {column}"


def wrong_account(summary):
    account = summary["account"]
    if abs(sum(row["ns"] for row in account["rows"]) - (account["wall_ns"] or 0)) > CLOSE * (account["wall_ns"] or 0) + len(account["rows"]):
        yield f"the rows of the account do not sum to {account['wall_ns']}"


def main():
    dwell, mktrace = map(os.path.abspath, sys.argv[1:])
    passed = failed = found = ends = 0
    for source in sorted(glob.glob(os.path.join(TRACES, "*.txt"))):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, os.path.basename(source)[:-3] + "dwell")
            if subprocess.run([mktrace, source, trace], capture_output=True, check=False).returncode:
                continue  # made in another way
            done = subprocess.run([dwell, "report", "--summary", "--format", "json", trace], capture_output=True, text=True, check=True)
            summary = json.loads(done.stdout)
            alone = list(wrong_names(dwell, trace)) + list(wrong_top(summary, dwell, trace))
            overview, phases, operators = tables_of(dwell, trace), tables_of(dwell, trace, "phases"), tables_of(dwell, trace, "operators")
        found += sum(bool(verdict["cells"]) for verdict in summary["verdicts"])
        ends += "ends" in overview
        for wrong in (wrong_parts(summary, overview), wrong_phases(summary, phases), wrong_operators(overview, operators),
                      wrong_verdicts(summary, overview), wrong_account(summary), alone,
                      wrong_ends(overview, summary["sentences"]) if "ends" in overview else []):
            texts = list(wrong)
            passed, failed = passed + (not texts), failed + bool(texts)
            for text in texts:
                print(f"FAILED {os.path.basename(source)}: {text}")
    few = found < LEAST or not ends
    if few:
        print(f"FAILED only {found} sentences have cells, and {ends} traces a table of the run's parts")
    print(f"{passed} passed, {failed + few} failed")
    return failed > 0 or few


if __name__ == "__main__":
    sys.exit(main())
