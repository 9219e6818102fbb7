#!/usr/bin/env python3
"""A trace exported as an XSpace and opened again answers as before; damaged ones are refused.

usage: xspace_check.py MKTRACE DWELL          last line: N passed, N failed

Compared are calls, total and self time of every call path by category, the steps and what
was allocated. Not compared: the time before the first event, which an XSpace does not have,
categories that have no name, and steps that were not recorded.
"""
import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRACES = ["xspace_device.txt", "export_small.txt", "export_order.txt", "views/train.txt", "views/layers.txt",
          "views/python.txt", "views/memory.txt", "views/ranks.txt", "views/calls.txt"]
counts = {True: 0, False: 0}


def check(condition, what):
    counts[bool(condition)] += 1
    if not condition:
        print(f"FAILED: {what}")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout, done.stderr


def rows(view, path):
    code, out, err = run(dwell, "report", "--view", view, "--format", "csv", path)
    return list(csv.DictReader(io.StringIO(out))) if code == 0 else err.replace(path, "TRACE")


def paths(path):
    """Calls and times by call path, of all threads together."""
    tree, above, sums = rows("tree", path), [], {}
    if isinstance(tree, str):
        return tree
    for row in tree:
        depth = int(row["depth"])
        above[depth:] = [row["name"]]
        if depth and row["category"] not in ("unknown", "thread"):
            key = (*above[1:], row["category"])
            old = sums.get(key, (0, 0, 0))
            sums[key] = tuple(a + int(row[column]) for a, column in
                              zip(old, ("calls", "total_ns", "self_ns")))
    # An XSpace puts a moment that equals the end of its range after the range.
    return {key: value for key, value in sums.items() if value[1]}


def steps(path):
    table = rows("steps", path)
    if isinstance(table, str):
        return []
    return sorted((row["step"], row["duration_ns"]) for row in table
                  if "not recorded" not in row.values())


def memory(path):
    """Who allocated what, and who held it at the peak."""
    code, out, err = run(dwell, "report", "--view", "memory", "--format", "json", path)
    tables = json.loads(out)["views"] if code == 0 else []
    return {table.get("part"): sorted(map(str, table["rows"])) for table in tables
            if table.get("part") in ("peak", "allocators")}


def devices(path):
    """The device views without the time before the first event."""
    found = {}
    for view in ("device", "kernels", "streams"):
        code, out, err = run(dwell, "report", "--view", view, "--format", "json", "--limit", "all", path)
        for table in json.loads(out)["views"] if code == 0 else []:
            notes = [note for note in table["notes"] if "call that submitted" in note]
            columns = [i for i, column in enumerate(table["columns"]) if column["name"] not in ("first_ns", "last_ns")]
            found[view, table.get("part")] = (sorted(str([row[i] for i in columns]) for row in table["rows"]), notes)
    return found


def overlapping():
    """300 kernels of one stream at the same time; the same number in another context, on another
    device and for what is in no stream."""
    lines = ["process 0 pid=5 name=python", "thread 0 tid=5 name=main", "stream 0 thread=0"]
    lines += [f"device {n} number={n} name=A100" for n in (0, 1)]
    lines += ["queue 0 device=0 stream=0", "queue 1 device=0 stream=0 context=2", "queue 2 device=1 stream=0",
              "queue 3 device=0", "events 0"]
    lines += [f"event kernel 0 {1000 + n}us {900 - n}us {n + 1} name=k{n % 7}" for n in range(300)]
    lines += [f"event kernel {n} {1000 + 5 * i}us 20us 0 name=k" for n in (1, 2, 3) for i in range(4)]
    return "\n".join(lines) + "\n"


def compare_devices(folder, name):
    """Streams, kernels, calls and what idle time is for survive; so they do in a Chrome trace."""
    trace = os.path.join(folder, name + ".dwell")
    source = os.path.join(HERE, "views", name + ".txt")
    if name == "overlapping":
        source = os.path.join(folder, "overlapping.txt")
        with open(source, "w", encoding="utf-8") as file:
            file.write(overlapping())
    code, out, err = run(mktrace, source, trace)
    check(code == 0, f"{name}: {err}")
    before = devices(trace)
    if name == "overlapping":  # streams of equal numbers are one in other formats
        before = {key: value for key, value in before.items() if key[0] == "kernels"}
    check(("streams", "launches") in before or name == "overlapping", f"{name}: tables {list(before)}")
    for form, suffix in (("xplane", "xplane.pb"), ("chrome", "json")):
        again = os.path.join(folder, f"{name}.{suffix}")
        code, out, err = run(dwell, "export", "--format", form, "-o", again, trace)
        check(code == 0, f"{name} {form}: {err}")
        after = devices(again)
        for table in before:
            check(before[table] == after.get(table), f"{name} {form} {table}:\n{before[table]}\n{after.get(table)}")


def compare(name, trace, again):
    before, after = paths(trace), paths(again)
    if isinstance(before, dict) and isinstance(after, dict):
        after = {key: value for key, value in after.items() if key in before}
    check(before == after, f"{name}: call paths\n{before}\n{after}")
    check(memory(trace) == memory(again), f"{name}: memory {memory(trace)} {memory(again)}")
    check(steps(trace) == steps(again), f"{name}: steps {steps(trace)} {steps(again)}")


def damaged(folder, whole):
    path = os.path.join(folder, "cut.xplane.pb")
    for part in range(1, 10):
        with open(path, "wb") as file:
            file.write(whole[:len(whole) * part // 10])
        code, out, err = run(dwell, "report", path)
        check(code == 1 and "damaged XSpace" in err and "capture again" in err,
              f"cut at {part}/10: {code} {err}")
    with gzip.open(path + ".gz", "wb") as file:
        file.write(whole)
    code, out, err = run(dwell, "report", "--view", "operators", path + ".gz")
    if "built without zlib" in err:
        print("skip xspace .gz: built without zlib")
        return
    check(code == 0, f"compressed: {err}")
    with open(path + ".gz", "rb") as file:
        packed = file.read()
    with open(path + ".gz", "wb") as file:
        file.write(packed[:len(packed) // 2])
    code, out, err = run(dwell, "report", path + ".gz")
    check(code == 1 and "too early" in err, f"cut when compressed: {code} {err}")


mktrace, dwell = map(os.path.abspath, sys.argv[1:3])
with tempfile.TemporaryDirectory() as folder:
    for source in TRACES:
        name = os.path.basename(source)[:-4]
        trace, again = os.path.join(folder, name + ".dwell"), os.path.join(folder, name + ".xplane.pb")
        code, out, err = run(mktrace, os.path.join(HERE, source), trace)
        check(code == 0, f"{name}: {err}")
        code, out, err = run(dwell, "export", "--format", "xplane", "-o", again, trace)
        check(code == 0, f"{name}: {err}")
        compare(name, trace, again)
    for name in ("device", "device_train", "overlapping"):
        compare_devices(folder, name)
    with open(os.path.join(folder, "xspace_device.xplane.pb"), "rb") as file:
        planes = file.read()
    check(b"\x0d/device:GPU:0" in planes and b"\x12Stream #7(Compute)" in planes, "a device's plane")
    with open(os.path.join(folder, "export_small.xplane.pb"), "rb") as file:
        damaged(folder, file.read())
print(f"{counts[True]} passed, {counts[False]} failed")
sys.exit(1 if counts[False] else 0)
