#!/usr/bin/env python3
"""The Chrome trace has the shape of Kineto's: keys and types of every kind of event.

usage: kineto_check.py MKTRACE DWELL        last line: N passed, N failed

KINDS is what stands in traces that PyTorch 2.5 and 2.6 wrote on machines with a GPU (the
test data of facebookresearch/HolisticTraceAnalysis), for the kinds that need no device.
"""
import json
import os
import subprocess
import sys
import tempfile

MKTRACE, DWELL = map(os.path.abspath, sys.argv[1:3])
NUMBER = (int, float)
# (ph, cat or name): keys with their types; of args too, those that every such event has.
KINDS = {
    ("X", "cpu_op"): ({"name": str, "pid": int, "tid": int, "ts": NUMBER, "dur": NUMBER},
                      {"External id": int, "Record function id": int, "Ev Idx": int}),
    ("X", "user_annotation"): ({"name": str, "pid": int, "tid": int, "ts": NUMBER, "dur": NUMBER},
                               {"External id": int, "Record function id": int, "Ev Idx": int}),
    ("M", "process_name"): ({"pid": int, "tid": int, "ts": NUMBER}, {"name": str}),
    ("M", "process_labels"): ({"pid": int, "tid": int, "ts": NUMBER}, {"labels": str}),
    ("M", "process_sort_index"): ({"pid": int, "tid": int, "ts": NUMBER}, {"sort_index": int}),
    ("M", "thread_name"): ({"pid": int, "tid": int, "ts": NUMBER}, {"name": str}),
    ("M", "thread_sort_index"): ({"pid": int, "tid": int, "ts": NUMBER}, {"sort_index": int}),
    ("i", "Iteration Start: PyTorch Profiler"): ({"s": str, "ts": NUMBER}, {}),
    ("i", "Record Window End"): ({"s": str, "ts": NUMBER}, {}),
    ("s", "fwdbwd"): ({"id": int, "pid": int, "tid": int, "ts": NUMBER, "name": str}, {}),
    ("f", "fwdbwd"): ({"id": int, "pid": int, "tid": int, "ts": NUMBER, "name": str, "bp": str}, {}),
}
TRACE = """process 0 pid=10 name=/opt/python3
thread 0 tid=10 name=main
thread 1 tid=11 name=backward
stream 0 thread=0
+1ms step-begin
begin zone Optimizer.step#SGD.step
+1us end
+1us begin operator aten::mse_loss shapes=4x8:float32,4x8:float32
link 7
+9us end
+1us step-end
stream 1 thread=1
at 2ms begin operator "autograd::engine::evaluate_function: MseLossBackward0"
link 7 0
+300us end
"""
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


with tempfile.TemporaryDirectory() as folder:
    trace, path = os.path.join(folder, "t.dwell"), os.path.join(folder, "t.json")
    subprocess.run([MKTRACE, "-", trace], input=TRACE.encode(), check=True)
    subprocess.run([DWELL, "export", "--format", "chrome", "-o", path, trace], check=True)
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
for key, kind in (("schemaVersion", int), ("deviceProperties", list), ("displayTimeUnit", str),
                  ("baseTimeNanoseconds", int), ("traceName", str), ("traceEvents", list)):
    check(f"the document's {key}", isinstance(document.get(key), kind))
check("schemaVersion 1, milliseconds", (document["schemaVersion"], document["displayTimeUnit"]) == (1, "ms"))
for (phase, name), (keys, arguments) in KINDS.items():
    events = [event for event in document["traceEvents"]
              if event["ph"] == phase and name in (event.get("cat"), event["name"])]
    check(f"{phase} {name} is there", events)
    for event in events:
        check(f"{phase} {name}: {event}",
              all(isinstance(event.get(key), kind) for key, kind in keys.items())
              and all(isinstance(event["args"].get(key), kind) for key, kind in arguments.items()))
backward = [e for e in document["traceEvents"] if e["name"].startswith("autograd::") and e["ph"] == "X"]
check("a backward operator says its forward",
      backward and {"Sequence number": 7}.items() <= backward[0]["args"].items()
      and "Fwd thread id" in backward[0]["args"])
starts = {e["id"] for e in document["traceEvents"] if e["ph"] == "s"}
ends = {e["id"] for e in document["traceEvents"] if e["ph"] == "f"}
check("every arrow has both ends, counted from 1", starts == ends == {1})

# Devices: a row has no events that overlap, every event is there, and the export reads back.
HERE = os.path.dirname(os.path.abspath(__file__))
CLASSES = ("kernel", "gpu_memcpy", "gpu_memset")


def families(path):
    """Events and their time by family, of a trace or an export."""
    text = subprocess.run([DWELL, "report", "--view", "kernels", "--format", "json", path], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    for table in json.loads(text)["views"]:
        if table.get("part") == "families":
            return sorted(tuple(row[:3]) for row in table["rows"])
    return None


with tempfile.TemporaryDirectory() as folder:
    trace, path = os.path.join(folder, "t.dwell"), os.path.join(folder, "t.json")
    subprocess.run([MKTRACE, os.path.join(HERE, "views", "device.txt"), trace], check=True)
    subprocess.run([DWELL, "export", "--format", "chrome", "-o", path, trace], check=True)
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    of_trace, of_export = families(trace), families(path)
rows = {}
for event in events:
    if event["ph"] == "X" and "device" in event.get("args", {}):
        rows.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
check("three streams and a row for what overlaps", len(rows) >= 4)
for row in rows.values():
    row.sort()
    check(f"no overlap in a row: {row}", all(b[0] >= a[1] - 1e-6 for a, b in zip(row, row[1:])))
check("kernels, copies and sets are there",
      sum(event["ph"] == "X" and event.get("cat") in CLASSES for event in events) == 10)
check("rows have names", {(e["pid"], e["tid"]) for e in events if e["ph"] == "M"
                          and e["name"] == "thread_name"} >= set(rows))
check("an arrow leads to each event with a call",
      sum(e["ph"] == "s" and e.get("cat") == "ac2g" for e in events)
      == sum(e["ph"] == "f" and e.get("cat") == "ac2g" for e in events) >= 5)
check(f"the export reads back: {of_trace} {of_export}", of_trace is not None and of_trace == of_export)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
