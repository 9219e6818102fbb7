#!/usr/bin/env python3
"""TensorBoard's profile plugin reads our log directory and answers as dwell does.

usage: xprof_test.py BUILD_FOLDER [PROGRAM...]     (under a Python with xprof)
                                                  last line: N passed, N failed

The plugin's own converter is asked for its tools, of hand-made traces and of programs
recorded here: calls, total and self time of every operator, the time of every step and the
peak of memory must be dwell's, to the byte and the nanosecond (sums within half a
nanosecond a call: the converter rounds each one, dwell their sum). Of many steps the
plugin leaves out the first and the last.
"""
import collections
import csv
import glob
import io
import json
import os
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data"))
import unpacked  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
VIEWS = os.path.join(HERE, "..", "golden", "views")
counts = {True: 0, False: 0}


def check(condition, what):
    counts[bool(condition)] += 1
    if not condition:
        print(f"FAILED: {what}")


def run(*command, cwd=None):
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=600)
    check(done.returncode == 0, f"{command}: {done.returncode} {done.stderr[-500:]}")
    return done.stdout


def rows(view, trace):
    return list(csv.DictReader(io.StringIO(
        run(dwell, "report", "--view", view, "--format", "csv", trace))))


def tool(path, name):
    data = convert.xspace_to_tool_data([path], name, {})[0]
    return json.loads(data) if data else None


def cells(table):
    names = [column["id"] for column in table["cols"]]
    return [dict(zip(names, [cell["v"] for cell in row["c"]])) for row in table["rows"]]


def operators(name, trace, path):
    ours, theirs = collections.Counter(), collections.Counter()
    for row in rows("operators", trace):
        key = row["name"].replace("::", "/")
        for column in ("calls", "total_ns", "self_ns"):
            ours[key, column] += int(row[column])
    for row in cells(tool(path, "framework_op_stats")[1]):
        key = row["operation"]
        theirs[key, "calls"] += int(row["occurrences"])
        theirs[key, "total_ns"] += round(row["total_time"] * 1000)
        theirs[key, "self_ns"] += round(row["total_self_time"] * 1000)
    check(ours and ours.keys() == theirs.keys() and
          all(abs(ours[key] - theirs[key]) <= (0 if key[1] == "calls" else ours[key[0], "calls"])
              for key in ours), f"{name}: operators\n{ours}\n{theirs}")


def steps(name, trace, path):
    ours = {f"train {row['step']}": int(row["duration_ns"]) for row in rows("steps", trace)
            if "not recorded" not in row.values()}
    numbers = sorted(int(key.split()[1]) for key in ours)
    inner = {key: ns for key, ns in ours.items() if int(key.split()[1]) in numbers[1:-1]}
    for page in ("input_pipeline_analyzer", "overview_page"):
        tables = [table for table in tool(path, page)
                  if any(column["id"] == "stepTimeMs" for column in table.get("cols", []))]
        theirs = {row["stepnum"]: round(row["stepTimeMs"] * 1e6) for row in cells(tables[0])} if tables else {}
        if page == "input_pipeline_analyzer" or tables:
            check(ours and theirs in (ours, inner), f"{name}, {page}: steps {ours} {theirs}")


def memory(name, trace, path):
    profile = tool(path, "memory_profile")["memoryProfilePerAllocator"]
    peaks = [int(one["profileSummary"]["peakStats"]["peakBytesInUse"]) for one in profile.values()]
    said = json.loads(run(dwell, "report", "--view", "memory", "--format", "json", trace))["views"]
    columns = [column["name"] for column in said[0]["columns"]]
    at_peak = sum(row[columns.index("peak_bytes")] for row in said[0]["rows"]
                  if row[0] != "all categories")
    check(len(peaks) == 1 and peaks[0] == at_peak, f"{name}: peaks {peaks} {at_peak}")
    holders(name, next(iter(profile.values())), next(table["rows"] for table in said if table["part"] == "peak"))


def holders(name, profile, rows_at_peak):
    """Whose what is live at the peak is."""
    ours, theirs = {row[0].replace("::", "/"): row[1] for row in rows_at_peak}, collections.Counter()
    for one in profile["activeAllocations"]:
        if int(one["snapshotIndex"]) >= 0:
            about = profile["memoryProfileSnapshots"][int(one["snapshotIndex"])]["activityMetadata"]
            theirs[about.get("tfOpName")] += int(about["allocationBytes"]) * int(one["numOccurrences"])
    check({key.replace(" ", "_") if key[0] != "(" else key: bytes for key, bytes in ours.items()} == theirs,
          f"{name}: whose memory at the peak {ours} {dict(theirs)}")


def viewer(name, trace, path):
    events = tool(path, "trace_viewer")["traceEvents"]
    named = collections.Counter(event.get("name") for event in events if event.get("ph") == "X")
    for row in rows("calls", trace):
        if row["name"] in ("ProfilerStep*", "step"):  # "train" here
            continue
        short = row["name"].replace("::", "/")
        found = max(named[row["name"]], sum(count for key, count in named.items()
                                            if key and key.startswith(short + ":")))
        check(found >= int(row["calls"]), f"{name}: {row['name']} {row['calls']} {found}")


def kernels(folder, name, trace):
    """The plugin's table of kernels has all kernels, their time, the operators that they work for."""
    run(dwell, "export", "--format", "xplane", "-o", folder + "/logs/", trace)
    path = glob.glob(f"{folder}/logs/plugins/profile/{name}/*.xplane.pb")[0]
    ours, theirs, whose = collections.Counter(), collections.Counter(), set()
    tables = json.loads(run(dwell, "report", "--view", "kernels", "--limit", "all", "--format", "json", trace))["views"]
    table = next(table for table in tables if table["part"] == "names")
    names = [column["name"] for column in table["columns"]]
    for row in (dict(zip(names, row)) for row in table["rows"]):
        if row["class"] != "copy":
            ours[row["name"], "calls"] += row["calls"]
            ours[row["name"], "total_ns"] += row["total_ns"]
    found = tool(path, "kernel_stats")
    for row in cells(found[0] if isinstance(found, list) else found):
        theirs[row["kernel_name"], "calls"] += round(row["occurrences"])
        theirs[row["kernel_name"], "total_ns"] += round(row["total_duration_us"] * 1000)
        whose.add(row["op_name"])
    check(ours == theirs, f"{name}: kernels\n{ours}\n{theirs}")
    check(whose - {None, ""}, f"{name}: operators of kernels {whose}")
    lines = {event["args"]["name"] for event in tool(path, "trace_viewer")["traceEvents"]
             if event.get("ph") == "M" and event["name"] == "thread_name"}
    check(any("Stream #7" in line for line in lines), f"{name}: a line for each stream {lines}")


def compare(folder, name, trace, has_memory):
    run(dwell, "export", "--format", "xplane", "-o", folder + "/logs/", trace)
    found = glob.glob(f"{folder}/logs/plugins/profile/{name}/*.xplane.pb")
    check(len(found) == 1, f"{name}: {found}")
    operators(name, trace, found[0])
    steps(name, trace, found[0])
    if has_memory:
        memory(name, trace, found[0])
    viewer(name, trace, found[0])


os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from xprof.convert import raw_to_tool_data as convert  # noqa: E402

build = os.path.abspath(sys.argv[1])
dwell = os.path.join(build, "dwell")
with tempfile.TemporaryDirectory() as folder:
    for name, has_memory in (("train", False), ("memory", True)):
        trace = os.path.join(folder, name + ".dwell")
        run(os.path.join(build, "tests/tools/mktrace"), os.path.join(VIEWS, name + ".txt"), trace)
        compare(folder, name, trace, has_memory)
    trace = os.path.join(folder, "peak_last.dwell")
    run(os.path.join(build, "tests/tools/mktrace"), os.path.join(VIEWS, "..", "xspace_peak_last.txt"), trace)
    compare(folder, "peak_last", trace, True)
    trace = os.path.join(folder, "threads.dwell")
    run(os.path.join(build, "tests/tools/mktrace"), os.path.join(VIEWS, "..", "xspace_device.txt"), trace)
    run(dwell, "export", "--format", "xplane", "-o", folder + "/logs/", trace)
    viewer("threads", trace, glob.glob(f"{folder}/logs/plugins/profile/threads/*.xplane.pb")[0])
    for name in ("device", "device_train"):
        trace = os.path.join(folder, name + ".dwell")
        run(os.path.join(build, "tests/tools/mktrace"), os.path.join(VIEWS, name + ".txt"), trace)
        kernels(folder, name, trace)
    real = os.path.join(unpacked.folder(dwell), "kineto/nccl_a100.json.gz")
    run(dwell, "import", real, "-o", os.path.join(folder, "nccl.dwell"))
    kernels(folder, "nccl", os.path.join(folder, "nccl.dwell"))
    for program in sys.argv[2:]:
        command = shlex.split(program)
        name = os.path.basename(command[0])
        trace = os.path.join(folder, name + ".dwell")
        run(dwell, "run", "--cost", "full", "-o", trace, "--", os.path.abspath(command[0]), *command[1:], cwd=folder)
        compare(folder, name, trace, name == "resnet18")
print(f"{counts[True]} passed, {counts[False]} failed")
sys.exit(1 if counts[False] else 0)
