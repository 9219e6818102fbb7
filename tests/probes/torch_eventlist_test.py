#!/usr/bin/env python3
"""The torch layout of real traces of GPUs is the table that PyTorch makes of the same events.

usage: torch_eventlist_test.py DWELL [PART]    last line: N passed, N failed
                                               PART: traces with this in their names; "": all of them, also the
                                               largest, which take 30 s, and 1.13 a minute each

Of the JSON of each trace in tests/data/kineto this makes FunctionEvents as torch.autograd.profiler does
of Kineto's results: operators, annotations and runtime calls are events of the CPU, what ran on the
device is events of CUDA, and an operator has the events with its `External id`. The files of some versions have other numbers there; in these an event belongs to the
operator around its runtime call. Their EventList.key_averages().table() must be what
`dwell report --layout torch` prints, byte for byte. Under PyTorch 1.13 the layout is torch:1.13, which
counts annotations on the device in the base of percentages.

Differences that are intended (doc/how/from-torch-profiler.md): an only child with its parent's name is
not merged into the parent, and memory belongs to the thread that allocates. So the tree is built
without that merge, and columns of memory are not compared.
"""
import collections
import decimal
import fractions
import gzip
import json
import os
import subprocess
import sys

import torch
from torch.autograd import DeviceType
from torch.autograd.profiler_util import (EventList, FunctionEvent, FunctionEventAvg, _filter_name,
                                          _rewrite_name)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data"))
import unpacked  # noqa: E402

DWELL = sys.argv[1]
TRACES = os.path.join(unpacked.folder(DWELL), "kineto")
OLD = torch.__version__.startswith("1.")
LAYOUT = "torch:1.13" if OLD else "torch"
CUDA = {"use_cuda": True} if OLD else {"use_device": "cuda"}
ON_CPU = {"cpu_op", "user_annotation", "cuda_runtime", "cuda_driver"}
ON_DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "gpu_user_annotation"}
TABLES = [  # arguments of table(), options of dwell
    ({}, []),
    ({"row_limit": 7}, ["--limit", "7"]),
    ({"row_limit": -1}, ["--limit", "all"]),
    ({"sort_by": "self_cpu_time_total", "row_limit": -1}, ["--sort", "self_cpu_time_total", "--limit", "all"]),
    ({"sort_by": "cpu_time_total", "row_limit": 20}, ["--sort", "cpu_time_total", "--limit", "20"]),
    ({"sort_by": "self_cuda_time_total", "row_limit": -1}, ["--sort", "self_cuda_time_total", "--limit", "all"]),
    ({"sort_by": "cuda_time_total", "row_limit": 15}, ["--sort", "cuda_time_total", "--limit", "15"]),
    ({"sort_by": "device_time", "row_limit": 12}, ["--sort", "device_time", "--limit", "12"]),
    ({"sort_by": "count", "time_unit": "ms"}, ["--sort", "count", "--time-unit", "ms"]),
    ({"time_unit": "us", "header": "of a GPU", "max_name_column_width": 30},
     ["--time-unit", "us", "--header", "of a GPU", "--widths", "name=30"]),
]
OLD_TABLES = [
    ({"row_limit": -1}, ["--limit", "all"]),
    ({"sort_by": "self_cuda_time_total", "row_limit": -1}, ["--sort", "self_cuda_time_total", "--limit", "all"]),
    ({"sort_by": "cuda_time", "header": "of a GPU", "max_name_column_width": 30},
     ["--sort", "cuda_time", "--header", "of a GPU", "--widths", "name=30"]),
]
SHAPE_TABLES = [
    ({"row_limit": -1}, ["--limit", "all"]),
    ({"sort_by": "cuda_time_total", "row_limit": 40}, ["--sort", "cuda_time_total", "--limit", "40"]),
]
TOTALS = [f"{self}{what}_time_total" for self in ("", "self_") for what in ("cpu", "cuda" if OLD else "device")]
counts = {True: 0, False: 0}
fractions.Fraction.__format__ = lambda self, form: format(float(self), form)  # as Python 3.12 has it, nearly


def keep(compute):
    """PyTorch computes an event's time on devices anew from all events below it whenever it is asked."""
    def total(event):
        if not hasattr(event, "kept"):
            event.kept = compute(event)
        return event.kept
    return property(total)


setattr(FunctionEvent, TOTALS[1], keep(getattr(FunctionEvent, TOTALS[1]).fget))


def check(what, good, found=""):
    counts[bool(good)] += 1
    if not good:
        print(f"FAIL {what}: {found}")


def ns(microseconds):
    """Exactly: the numbers were read as decimals, because a double has too few bits."""
    return int(microseconds * 1000)


def load(path):
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        return [event for event in json.load(file, strict=False, parse_float=decimal.Decimal)["traceEvents"] if event.get("ph") == "X"]


def external(event):
    arguments = event.get("args", {})
    return int(arguments.get("External id", arguments.get("external id", 0)) or 0)


def shapes(event):
    """dwell has the tensors of a list one by one, where PyTorch has an empty list."""
    flat = []
    for tensor in event.get("args", {}).get("Input Dims", []):
        flat += tensor if any(isinstance(size, list) for size in tensor) else [tensor]
    return flat


class Trace:
    """FunctionEvents of a trace. Times are in ns since its first event; those of the averages become fractions of
    us, which PyTorch prints. So sums are as exact as dwell's."""

    def __init__(self, events):
        events = [event for event in events if event.get("cat") in ON_CPU | ON_DEVICE]
        first = min(ns(event["ts"]) for event in events)
        self.made = []
        self.operators = {}          # external id -> FunctionEvent
        self.calls = {}              # correlation -> FunctionEvent
        for event in events:
            start = ns(event["ts"]) - first
            event["made"] = self.make(event, start, start + ns(event["dur"]))
        self.link([event for event in events if event["made"]])

    def make(self, event, start, end):
        on_device = event["cat"] in ON_DEVICE
        if _filter_name(event["name"]):
            return None
        made = FunctionEvent(
            id=external(event), node_id=-1, name=_rewrite_name(event["name"], with_wildcard=True), trace_name="",
            thread=(event["pid"], event["tid"]), start_us=start, end_us=end, stack=[], input_shapes=shapes(event),
            device_type=DeviceType.CUDA if on_device else DeviceType.CPU,
            **({} if OLD else {"use_device": "cuda", "is_user_annotation": event["cat"].endswith("user_annotation")}))
        self.made.append(made)
        if event["cat"] == "cpu_op" and made.id:
            self.operators[made.id] = made
        elif event["cat"] in ("cuda_runtime", "cuda_driver") and "correlation" in event.get("args", {}):
            self.calls[event["args"]["correlation"]] = made
        return made

    def link(self, events):
        """Gives each event of the device to its operator."""
        calls = [event for event in events if event["cat"] in ("cuda_runtime", "cuda_driver")
                 and external(event) in self.operators]
        inside = sum(is_in(event["made"], self.operators[external(event)]) for event in calls)
        by_id = len(calls) and inside == len(calls)
        around = {} if by_id else self.find_around(events)
        for event in events:
            if event["cat"] not in ON_DEVICE or event["cat"] == "gpu_user_annotation":
                continue
            call = self.calls.get(event.get("args", {}).get("correlation"))
            operator = self.operators.get(external(event)) if by_id else around.get(id(call))
            if operator is not None:
                operator.append_kernel(event["made"].name, 0, event["made"].time_range.elapsed_us())

    @staticmethod
    def find_around(events):
        """{id of a runtime call: the innermost operator of its thread that contains it}"""
        threads = collections.defaultdict(list)
        for event in events:
            if event["cat"] in ("cpu_op", "cuda_runtime", "cuda_driver"):
                threads[event["made"].thread].append(event)
        found = {}
        for thread in threads.values():
            thread.sort(key=lambda event: (event["made"].time_range.start, -event["made"].time_range.end))
            stack = []
            for event in thread:
                made = event["made"]
                while stack and not is_in(made, stack[-1]):
                    stack.pop()
                if event["cat"] == "cpu_op":
                    stack.append(made)
                elif stack:
                    found[id(made)] = stack[-1]
        return found

    def averages(self):
        """Of all calls, of all calls by their shapes, and of those that are in no other call."""
        made = EventList(self.made, **CUDA)
        made._populate_cpu_children()  # of events with equal times, the first one in the file is outside
        made.sort(key=lambda event: (event.time_range.start, -event.time_range.end, event.name))
        made._tree_built = True
        outermost = EventList((event for event in made if event.cpu_parent is None), **CUDA)
        outermost._tree_built = True
        return [in_microseconds(averages) for averages in (
            made.key_averages(), made.key_averages(group_by_input_shapes=True), outermost.key_averages())]


def in_microseconds(averages):
    for row in averages:
        for name in TOTALS:
            setattr(row, name, fractions.Fraction(getattr(row, name), 1000))
    return averages


def is_in(inner, outer):
    return (inner.thread == outer.thread and inner.time_range.start >= outer.time_range.start
            and inner.time_range.end <= outer.time_range.end and inner.time_range.start < outer.time_range.end)


def drop_memory(table):
    """Without the columns of memory, which PyTorch computes differently: two of the CPU, two of devices."""
    for title in "CPU Mem", "CUDA Mem":
        lines = table.split("\n")
        heads = next((line for line in lines if title in line), None)
        if heads is None:
            continue
        end = heads.index(title) + len(title)
        begin, end = end - 12, end + 2 + 12 + 2
        wide = max(0, len("Self " + title) - 12)  # PyTorch's heads may be longer than their columns
        table = "\n".join(line[:begin] + line[end + wide * (title in line):] if len(line) > end else line
                          for line in lines)
    return table


def first_difference(got, want):
    got, want = got.split("\n"), want.split("\n")
    for line in range(max(len(got), len(want))):
        pair = (got[line] if line < len(got) else "(no line)", want[line] if line < len(want) else "(no line)")
        if pair[0] != pair[1]:
            return f"line {line + 1}\n  dwell {pair[0]}\n  torch {pair[1]}"
    return ""


def compare_table(name, averages, arguments, options):
    done = subprocess.run([DWELL, "report", os.path.join(TRACES, name), "--layout", LAYOUT, *options],
                          capture_output=True, text=True, check=False)
    want, got = averages.table(**arguments), drop_memory(done.stdout)
    check(f"{name} {' '.join(options)}", done.returncode == 0 and got == want,
          done.stderr + first_difference(got, want))


def compare_no_shapes(name):
    """PyTorch prints the table without shapes; dwell says that there are none."""
    done = subprocess.run([DWELL, "report", os.path.join(TRACES, name), "--layout", LAYOUT, "--group-by", "shape"],
                          capture_output=True, text=True, check=False)
    check(f"{name}: no shapes", done.returncode and "no shapes were recorded" in done.stderr, done.stderr)


def compare(name):
    events = load(os.path.join(TRACES, name))
    averages, by_shapes, outermost = Trace(events).averages()
    for arguments, options in OLD_TABLES if OLD else TABLES:
        compare_table(name, averages, arguments, options)
    if any("Input Dims" in event.get("args", {}) for event in events):
        for arguments, options in SHAPE_TABLES:
            compare_table(name, by_shapes, arguments, ["--group-by", "shape", *options])
    else:
        compare_no_shapes(name)
    # Shares are of all calls, also of those that the table leaves out.
    rest = FunctionEventAvg()
    rest.key, rest.cpu_parent, rest.use_device, rest.count, rest.is_user_annotation = "x", rest, "cuda", 1, False
    rest.node_id = -1
    rest.self_cpu_time_total = sum(row.self_cpu_time_total for row in averages) - \
        sum(row.self_cpu_time_total for row in outermost)
    outermost.append(rest)
    compare_table(name, outermost, {"top_level_events_only": True, "row_limit": -1}, ["--top-level", "--limit", "all"])


for trace in sorted(os.listdir(TRACES)):
    large = os.path.getsize(os.path.join(TRACES, trace)) > (1_300_000 if OLD else 2_000_000)
    if trace.endswith(".json.gz") and (sys.argv[2] in trace if len(sys.argv) > 2 else not large):
        compare(trace)
print(f"{counts[True]} passed, {counts[False]} failed")
sys.exit(counts[False] > 0)
