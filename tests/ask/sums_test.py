#!/usr/bin/env python3
"""Whether every printed share is a sum, and equal things have equal numbers, for every golden trace.

A sentence has the share of its cells or of the rows that it is about, and these rows are in a table below it. The account's rows sum to
it, parts sum to the loop by its steps, the overview has the parts of the summary, the phases and operators those of the overview,
operators are at most all of the loop. No gain is more than a step, or than its sentence's share of it. One time has one share on a
screen, in the texts of documents too.

usage: sums_test.py DWELL MKTRACE
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
TRACES = os.path.join(ROOT, "tests/golden/views")
VIEWS = os.path.join(ROOT, "src/output/views/views.def")
LEAST = 2  # traces that have such a sentence
CLOSE = 1e-6
# Shares that no column is a part of a whole of: errors and ends of intervals, changes, verdicts (their cells are in the summary), parts of
# a row's own time, sums of two columns, what all of a run cost.
NO_SUM = {("account", "error"), ("overview", "error"), ("overview", "self_error"), ("hot", "self_error"), ("waits", "self_error"),
          ("verdict", "share"), ("verdict", "low"), ("verdict", "high"), ("verdict", "gain_share"), ("overview", "cost_share"), ("overview", "verdict_share"),
          ("dataloader", "share"), ("device", "share"), ("flops", "of_peak"), ("flows", "other_thread"), ("layers", "share"),
          ("memory", "unused"), ("requests", "share"), ("roofline", "of_roof"), ("sequence", "share"), ("sequence", "drift"), ("steps", "cpu_share"),
          ("stragglers", "excess"),
          ("stragglers", "last"), ("streams", "busy_share"), ("threads", "busy_share"), ("tree", "share"),
          ("workers", "busy")}
# Two views with the same thing: view, part, columns that name it, its share.
SAME = ((("overview", "account", ("does",), "share"), ("account", "account", ("does",), "share")),
        (("overview", "hot", ("name", "place"), "self_share"), ("hot", None, ("short_name", "place"), "self_share")),
        (("overview", "hot", ("name", "place"), "total_share"), ("hot", None, ("short_name", "place"), "total_share")),
        (("overview", "operators", ("name",), "share"), ("operators", None, ("name",), "loop_share")),
        (("overview", "kernels", ("name",), "share"), ("kernels", "names", ("name",), "share")))
NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
APART = {"not recorded", "recorded without operators", "records are missing", "summarised steps"}  # the phases are of the other steps
FOLDED = 0.005  # the account in an overview sums up smaller rows
# What no row of a table is about: a length beyond the usual one, a group of operators, time that ranks wait for each other, bytes,
# the time between steps whatever it has, all that is work, what recording takes.
OF_FACTS = {"slow-steps", "warm-up", "drift", "change-point", "input-size-variance", "first-shapes", "compilation",
            "small-operators", "layout-copies", "precision", "memory-bound-chain", "half-precision", "roofline", "synchronising-call",
            "rank-waits", "memory-growth", "memory-limit", "memory-owners", "memory-room", "memory-temporaries", "between-steps", "compute",
            "after-steps", "memory-kept",
            "oversubscribed", "thread-count", "profiler-cost", "loader-restart", "loader-part", "evaluation-graphs", "logging"}


def tables_of(dwell, trace, view="overview"):
    """The tables of a view by part, with rows as dicts; nothing if it has none of this trace."""
    done = subprocess.run([dwell, "report", "--view", view, "--format", "json", "--limit", "all", trace], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        return {}
    views = json.loads(done.stdout)["views"]
    return {view.get("part"): [dict(zip([column["name"] for column in view["columns"]], row)) for row in view["rows"]]
            for view in views} | {
                "notes": [note for view in views for note in view["notes"]], "totals": views[0]["totals"]}


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


def head_of_ends(heads):
    return next((head for head in heads if re.match(r"(Start-up|What follows the last step) takes ", head)), "no sentence")


def wrong_ends(overview, heads):
    """The parts of the run sum to it, and the sentence about its longest phase has the sum of the phase."""
    head = head_of_ends(heads)
    rows, phase = overview["ends"], "start-up" if head.startswith("Start-up takes") else "end"
    rows = [row for row in rows if row["share"] is not None]  # the other one has the time without a CPU
    share = sum(row["share"] for row in rows if row["phase"] == phase)
    if abs(sum(row["share"] for row in rows) - 1) > 1e-6:
        yield "parts of the run do not sum to it"
    if f" {100 * share:.0f}% of the run" not in head:
        yield f"{head} has rows of {share}"
    for row in rows:
        name = row["part"].removeprefix(f"{phase}: ")
        if row["phase"] == phase and (row["samples"] or 0) >= 3 and row["share"] >= 0.1 * share and name not in head and len(rows) < 6:
            yield f"{head} does not name {name}"
    if sum(row["part"] == "steps" for row in rows) != 1 or rows != sorted(rows, key=lambda row: ["start-up", "steps", "end"].index(row["phase"])):
        yield "parts of the run are not in order"


def wrong_first(views, head):
    """Views that begin with a verdict begin with the same one."""
    for table in views:
        if table["view"] == "verdict" and (not table["heads"] or table["heads"][0] != head):
            yield f"the view of verdicts does not begin with {head}"


def wrong_phases(summary, phases):
    """A phase has the time and the share of the part of this name, and all of them with start-up and end are the run."""
    steps = summary["steps"]
    if not phases or not steps:
        return
    rows, names = phases[None], {row["phase"] for row in phases[None]}
    if names & APART or steps["ended"] < steps["count"] or steps["summarised"]:
        return  # the phases are of recorded steps
    if "total_ns" in phases["totals"] and abs(sum(row["total_ns"] for row in rows) - phases["totals"]["total_ns"]) > len(rows):
        yield "phases do not sum to the run"
    for part in summary["parts"]:
        of_name = [row for row in rows if row["phase"] == part["name"]]
        each, share = sum(row["per_step_ns"] or 0 for row in of_name), sum(row["loop_share"] or 0 for row in of_name)
        if abs(each - part["ns"]) > 1 or abs(share - (part["share"] or 0)) > CLOSE + 1e-3 / max(1, steps["mean_ns"] / 1e3):
            yield f"{part['name']} takes {each} ns a step in the phases ({share}) and {part['ns']} in the overview ({part['share']})"


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
        if steps and verdict["of"] not in ("of the loop", "of the run", "of the peak", "of the memory", "of a steady step"):
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


def wrong_top(summary, operators, dwell, trace):
    """dwell top has the report's measure of a step, parts and operators."""
    steps = summary["steps"]
    if not steps or steps["loops"] > 1 or steps["ended"] < steps["count"] or steps["summarised"]:
        return
    done = subprocess.run([dwell, "top", "--once", "--last", "all", trace], capture_output=True, text=True, check=False)
    said = re.search(r"([\d.]+) (\w+) a step  median ([\d.]+) (\w+)  p95 ([\d.]+) (\w+)", done.stdout)
    for i, key in enumerate(("mean_ns", "p50_ns", "p95_ns")) if said else ():
        ns = float(said[2 * i + 1]) * NS[said[2 * i + 2]]
        if abs(ns - steps[key]) > 0.01 * steps[key]:
            yield f"{key} is {ns} in dwell top and {steps[key]} in the summary"
    shares, lines = {part["name"]: part["share"] for part in summary["parts"]}, done.stdout.splitlines()
    for name, percent in re.findall(r"(\S+(?: \S+)*) (\d+)%  ", lines[4] + "  " if said and len(lines) > 4 else ""):
        if abs((shares.get(name) or 0) - int(percent) / 100) > 0.0051:
            yield f"{name} is {percent}% in dwell top and {shares.get(name)} in the summary"
    at = [line.index("of the loop") + len("of the loop") for line in lines if "of the loop" in line]
    for row in operators:
        for line in [line for line in lines if at and line.startswith(row["name"] + "  ")]:
            if f"{100 * (row['share'] or 0):.1f}%" != line[:at[0]].split()[-1]:
                yield f"{row['name']} is {line[:at[0]].split()[-1]} in dwell top and {row['share']} in the overview"


def all_views(dwell, trace):
    """All tables of all views."""
    found = []
    for name in re.findall(r"^VIEW\((\w+)", open(VIEWS, encoding="utf-8").read(), re.M):
        done = subprocess.run([dwell, "report", "--view", name, "--format", "json", "--limit", "all", trace], capture_output=True, text=True,
                              check=False)
        found += json.loads(done.stdout)["views"] if done.returncode == 0 else []
    return found


def wrong_columns(table):
    """A table has a name for each column, and a share is the cell that it sums, of one whole."""
    names, where = [column["name"] for column in table["columns"]], f"view {table['view']}, {table.get('part')}"
    for column in {column for column in names if names.count(column) > 1}:
        yield f"{where} has two columns {column}"
    for i, column in enumerate(table["columns"]):
        if column["unit"] == "ratio" and "sums" not in column and (table["view"], column["name"]) not in NO_SUM:
            yield f"{where}: what is {column['name']} the sum of?"
        for row in table["rows"] if column["name"].endswith("share") else []:
            if row[i] is not None and row[i] > 1 + CLOSE:
                yield f"{where}: {row[0]} has {row[i]} of its whole"
        for row in table["rows"] if "sums" in column else []:
            part, share = row[names.index(column["sums"])], row[i]
            if share is not None and part is not None and abs(part - share * (column["whole"] or 0)) > 1 + CLOSE * (column["whole"] or 0):
                yield f"{where}: {row[0]} has {share}, and {part} of {column['whole']}"


def shares_of(tables, view, part, key, share):
    """By the cells of the columns `key`: those of `share`."""
    found = {}
    for table in tables:
        names = [column["name"] for column in table["columns"]]
        if table["view"] == view and table.get("part") == part and share in names:
            for row in table["rows"]:
                found[tuple(row[names.index(name)] for name in key)] = row[names.index(share)]
    return found


def wrong_screens(tables, summary):
    """What two screens say of one thing is one number, and their shares are of one whole."""
    for (view, part, key, share), (other_view, other_part, other_key, other_share) in SAME:
        ours, others = shares_of(tables, view, part, key, share), shares_of(tables, other_view, other_part, other_key, other_share)
        for name in ours.keys() & others.keys():
            if ours[name] is not None and others[name] is not None and abs(ours[name] - others[name]) > CLOSE:
                yield f"{name} is {ours[name]} in {view} and {others[name]} in {other_view}"
    shown = {(verdict["rule"],): verdict["share"] for verdict in summary["verdicts"]}
    for rule, share in shares_of(tables, "verdict", None, ("rule",), "share").items():
        if rule in shown and share is not None and abs(share - shown[rule]) > CLOSE:
            yield f"the verdict {rule} is {share} in the view and {shown[rule]} in the summary"
    steps = summary["steps"]
    for table in tables:
        for column in table["columns"]:
            if column["label"] == "of the loop" and column.get("whole") and steps and summary["loop_ns"] and \
                    column["whole"] > summary["loop_ns"] * (1 + 1e-6) + 1:
                yield f"{table['view']}: {column['name']} is of {column['whole']}, and an iteration has {summary['loop_ns']}"


def times_of(tables, summary):
    """(what, ns of an iteration, share) of all rows and gains on the first screen."""
    steps = summary["steps"]["count"] if summary["steps"] else 1
    columns = {("overview", "breakdown"): ("per_step_ns", "share", 1), ("overview", "operators"): ("self_per_step_ns", "share", 1),
               ("overview", "account"): ("ns", "share", steps), ("verdict", None): ("gain_ns", "gain_share", 1)}
    for table in tables:
        names = [column["name"] for column in table["columns"]]
        ns, share, of = columns.get((table["view"], table.get("part")), (None, None, 1))
        for row in table["rows"] if ns in names and share in names else []:
            if row[names.index(ns)] and row[names.index(share)]:
                yield row[0], row[names.index(ns)] / of, row[names.index(share)]


def wrong_times(tables, summary):
    """One time is one share: a row of a table, and what goes if all that a sentence is about goes."""
    if summary["steps"] and summary["steps"]["summarised"] + summary["steps"]["count"] - summary["steps"]["ended"]:
        return  # the account's iterations are others
    found = list(times_of(tables, summary))
    for i, (what, ns, share) in enumerate(found):
        for other, other_ns, other_share in found[:i]:
            if abs(ns - other_ns) <= 1 + CLOSE * ns and abs(share - other_share) > 1e-4:
                yield f"{other} and {what} take {ns} ns, which is {other_share} and {share}"


NUMBER = r"(\d[\d,]*(?:\.\d+)?)"


def printed(value, unit):
    """A printed time in ns, and by how much it may be rounded."""
    return float(value.replace(",", "")) * NS[unit], 0.5 * 10.0 ** -len(value.partition(".")[2]) * NS[unit]


def wrong_text(text):
    """The same of texts: screens in documents. A screen ends with its last line or with its code block."""
    for screen in re.findall(r"^(?:SLOW|WORK|RISK|ALSO) .*?(?=^Trust:|^```|\Z)", text, re.M | re.S):
        unit, gains, rows = None, re.findall(rf"at most {NUMBER}(?: of [\d.,]+)? ([num]?s) (?:a step|an iteration|in the run), (\d+)%",
                                             re.sub(r"\n {7}", " ", screen)), []
        for line in re.sub(r"^  the run.*?\n\n", "", screen, flags=re.M | re.S).splitlines():  # its shares are of another whole
            head = re.match(r"  (?:a step|a round|an iteration)\b.*  ([num]?s)  of the loop", line)
            unit = head[1] if head else unit if line.startswith("  ") else None
            row = re.match(rf"  \S.*? +{NUMBER}([num]?s)? +(\d+\.\d)%", line)
            rows += [(row[1], row[2] or unit, row[3])] if row and (row[2] or unit) and not line.startswith("  all ") else []
        for gain, gain_unit, percent in gains:
            for value, unit, share in rows:
                (ns, by), (row_ns, row_by) = printed(gain, gain_unit), printed(value, unit)
                rounded = 0.56 + float(share) * (by + row_by) / (ns or 1)
                if abs(ns - row_ns) <= by + row_by and abs(float(percent) - float(share)) > rounded:
                    yield f"{gain} {gain_unit} are {percent}%, and in a table {value} {unit} are {share}%"


def stored_texts():
    """Texts in the project that have screens."""
    for folder in ("doc", "tests/golden", "tests/cli"):
        for path in glob.glob(os.path.join(ROOT, folder, "**/*"), recursive=True):
            if path.endswith((".md", ".t")):
                with open(path, encoding="utf-8") as file:
                    yield os.path.relpath(path, ROOT), file.read()


def wrong_markdown(dwell, trace, summary):
    """The summary for people has the parts, operators and sentences of the one for programs."""
    text = subprocess.run([dwell, "report", "--summary", "--format", "md", trace], capture_output=True, text=True, check=True).stdout
    plain = text.replace("\\", "")
    for part in summary["parts"]:
        if part["share"] and part["share"] >= 0.0005 and f"| {part['name']} |" in plain and \
                not re.search(re.escape(f"| {part['name']} |") + rf"[^|]*\| {100 * part['share']:.1f}% \|", plain):
            yield f"the Markdown summary has another share of {part['name']} than {part['share']}"
    for verdict in summary["verdicts"]:
        if verdict["statement"] not in plain:
            yield f"the Markdown summary has not: {verdict['statement']}"


def wrong_cost(summary, overview):
    """The cost of recording is the same number in the fact run.profiler, the sentence about it, and the report's last line; it contains
    the part profiler of the table."""
    run, fact = overview["run"][0], summary["facts"].get("run.profiler")
    notes = [note for note in overview["notes"] if "profiling cost about" in note]
    if fact and summary["steps"] and abs(fact["value"] - run["cost_share"]) > CLOSE:
        yield f"profiling costs {fact['value']} by the fact and {run['cost_share']} in the overview"
    for note in notes:
        if f"{100 * run['cost_share']:.1f}% of" not in note:
            yield f"{note} has not {run['cost_share']}"
    for part in summary["parts"]:
        if part["name"] == "profiler" and notes and part["share"] and part["share"] > run["cost_share"] + CLOSE:
            yield f"the part profiler has {part['share']}, and profiling costs {run['cost_share']}"
    for verdict in summary["verdicts"]:
        if verdict["rule"] == "profiler-cost" and abs(verdict["share"] - run["cost_share"]) > CLOSE:
            yield f"{verdict['statement']} is not {run['cost_share']}"


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
            views = all_views(dwell, trace)
            alone = [text for table in views for text in wrong_columns(table)] + list(wrong_screens(views, summary)) + \
                list(wrong_top(summary, tables_of(dwell, trace).get("operators", []), dwell, trace)) + \
                list(wrong_markdown(dwell, trace, summary)) + list(wrong_times(views, summary))
            overview, phases, operators = tables_of(dwell, trace), tables_of(dwell, trace, "phases"), tables_of(dwell, trace, "operators")
        found += sum(bool(verdict["cells"]) for verdict in summary["verdicts"])
        ends += "ends" in overview
        for wrong in (wrong_parts(summary, overview), wrong_phases(summary, phases), wrong_operators(overview, operators),
                      wrong_verdicts(summary, overview), wrong_account(summary), wrong_cost(summary, overview), alone,
                      wrong_ends(overview, summary["sentences"]) if "ends" in overview else [],
                      wrong_first(views, head_of_ends(summary["sentences"])) if "ends" in overview else []):
            texts = list(wrong)
            passed, failed = passed + (not texts), failed + bool(texts)
            for text in texts:
                print(f"FAILED {os.path.basename(source)}: {text}")
    for path, text in stored_texts():
        texts = list(wrong_text(text))
        passed, failed = passed + (not texts), failed + bool(texts)
        for text in texts:
            print(f"FAILED {path}: {text}")
    few = found < LEAST or not ends
    if few:
        print(f"FAILED only {found} sentences have cells, and {ends} traces a table of the run's parts")
    print(f"{passed} passed, {failed + few} failed")
    return failed > 0 or few


if __name__ == "__main__":
    sys.exit(main())
