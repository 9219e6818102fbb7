#!/usr/bin/env python3
"""examples/prometheus/dashboard.json: a real Prometheus answers each query of each panel, from what a real dwell watch serves.

usage: dashboard_test.py BUILD        last line: N passed, N failed, N skipped

With Debian's package prometheus; without it the names of figures and labels are compared, and the rest is skipped. There is no
Grafana here. A figure that dwell serves has to be in a panel, and in the table of doc/how/watch.md.
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

import prometheus_here
from prometheus_here import get

BUILD = os.path.abspath(sys.argv[1])
DWELL = os.path.join(BUILD, "dwell")
SOURCES = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(SOURCES, "../..")
MS = (0, 6)  # how much longer the data of each rank takes in a step
# What stands in a query for what Grafana puts there.
GRAFANA = {"$run": ".*", "$rank": ".*", "$__rate_interval": "10s"}
counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(what, good):
    counts["passed" if good else "failed"] += 1
    if not good:
        print("FAILED", what)


def wait_for(what, found, seconds=90):
    """The first true answer of found(), or the last one, which is a failure."""
    until = time.monotonic() + seconds
    while not (answer := found()) and time.monotonic() < until:
        time.sleep(.5)
    check(what, answer)
    return answer


def queries(board):
    """The title and the query of each target."""
    return [(panel["title"], target["expr"]) for panel in board["panels"] for target in panel.get("targets", [])]


def filled(query):
    for name, value in GRAFANA.items():
        query = query.replace(name, value)
    return query


def labels_of(query):
    """The labels that a query names: in selectors, and those it sums by."""
    selected = re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*"', re.sub(r"label_replace\(.*\)", "", query))
    return set(selected) | {name.strip() for group in re.findall(r"(?:by|on) \(([^)]*)\)", query) for name in group.split(",") if name.strip()}


def check_names(board, served):
    """Names that are renamed, new or gone."""
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", served, re.M))
    samples = {name + end for name, kind in types.items() for end in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))}
    variables = [one["query"]["query"] for one in board["templating"]["list"] if one["type"] == "query"]
    used = {name for query in [query for _, query in queries(board)] + variables for name in re.findall(r"\bdwell_\w+", query)}
    check(f"figures that dwell does not serve: {used - samples}", not used - samples)
    unseen = {name for name in types if not any(one.startswith(name) for one in used)}
    check(f"figures that no panel shows: {unseen}", not unseen)
    labels = set(re.findall(r'(\w+)="', served)) | {"cause"}  # which only lost records have
    for title, query in queries(board):
        check(f"{title}: labels that no figure has: {labels_of(query) - labels}", labels_of(query) <= labels)
    with open(os.path.join(ROOT, "doc/how/watch.md"), encoding="utf-8") as file:
        described = set(re.findall(r"`(dwell_\w+)", file.read()))
    check(f"figures that doc/how/watch.md has and dwell has not, or not: {described ^ set(types)}", described == set(types))


def check_layout(board):
    """Panels neither overlap nor leave a row's width, and what a person reads of each is there."""
    cells = [(x, y) for at in (panel["gridPos"] for panel in board["panels"])
             for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])]
    check("panels overlap, or are wider than the page", len(cells) == len(set(cells)) and max(x for x, _ in cells) == 23)
    check("panels have numbers of their own", len({panel["id"] for panel in board["panels"]}) == len(board["panels"]))
    check("each panel says what it shows", all(panel.get("description") for panel in board["panels"] if panel["type"] != "row"))


def answers(prometheus, query):
    """The labels and the number of each series; [] as long as there is none."""
    text = get(f"{prometheus.address}/api/v1/query?query={prometheus_here.urllib.request.quote(filled(query))}")
    found = [(one["metric"], float(one["value"][1])) for one in json.loads(text)["data"]["result"]] if text else []
    return found if all(math.isfinite(number) for _, number in found) else []


def check_answers(prometheus, board):
    of = {}
    for title, query in queries(board):
        of[title] = of.get(title, []) + (wait_for(f"{title}: {query}", lambda query=query: answers(prometheus, query)) or [])
    parts = {labels["part"]: number for labels, number in of["Parts of a step"]}
    check(f"parts of a step: {parts}", {"data", "forward", "device", "profiler", "communication", "between steps"} <= set(parts))
    length = next(iter(of["Length of a step"]), ({}, 0))[1]
    check(f"parts sum to {length} s and what lies between steps: {parts}",
          abs(sum(parts.values()) - parts.get("between steps", 0) - length) < .2 * length)
    work = {labels["rank"]: number for labels, number in of["Work of a step, beyond the median rank"]}
    check(f"the slower rank works longer: {work}", work.get("1", 0) > 0 > work.get("0", 0))
    age = of["Age of the last step"]
    check(f"age of the last step: {age}", age and 0 <= age[0][1] < 60)
    rate = of["Steps a second"]
    check(f"steps a second: {rate}", rate and 1 < rate[0][1] < 60)
    version = subprocess.run([DWELL, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    check(f"version: {of['Its version']}", of["Its version"] and of["Its version"][0][0]["version"] == version)


def main():
    with open(os.path.join(ROOT, "examples/prometheus/dashboard.json"), encoding="utf-8") as file:
        board = json.load(file)
    check_layout(board)
    with tempfile.TemporaryDirectory(prefix="dwell-dashboard-") as folder:
        os.chdir(folder)
        subprocess.run([*os.environ.get("CC", "cc").split(), "-D_GNU_SOURCE", "-I", os.path.join(ROOT, "include"),
                        os.path.join(SOURCES, "dashboard_program.c"), "-o", "program", "-L", BUILD, "-Xlinker", f"-rpath={BUILD}", "-ldwell"],
                       check=True)
        started = [subprocess.Popen([DWELL, "run", "--sample", "off", "--summary-every", "1s", "-o", f"rank{number}.dwell", "--", "./program", str(ms)],
                                    stderr=subprocess.DEVNULL, env={**os.environ, "RANK": str(number), "WORLD_SIZE": str(len(MS))})
                   for number, ms in enumerate(MS)]
        started.append(subprocess.Popen([DWELL, "watch", "--every", "1s", "--port", "0", "."], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        prometheus = None
        try:
            port = started[-1].stderr.readline().split("127.0.0.1:")[1].split("/")[0]
            wait_for("figures of both ranks", lambda: get(f"http://127.0.0.1:{port}/metrics").count("dwell_memory_peak_bytes{") == len(MS))
            check_names(board, get(f"http://127.0.0.1:{port}/metrics"))
            if prometheus_here.missing():
                print("skip:", prometheus_here.missing())
                counts["skipped"] += 1
            else:
                prometheus = prometheus_here.Prometheus(folder, {"dwell": port}, 1)
                check_answers(prometheus, board)
        finally:
            open("end", "w", encoding="utf-8").close()
            for process in started:
                process.wait(timeout=60)
            if prometheus:
                prometheus.stop()
        os.chdir("/")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return counts["failed"] > 0


sys.exit(main())
