#!/usr/bin/env python3
"""The views of devices on real traces: against HolisticTraceAnalysis and against the files themselves.

usage: hta_test.py DWELL [TRACE...]      last line: N passed, N failed

The traces are in tests/data/kineto, and what HTA computed of them in its folder hta (see its README.md).
HTA leaves out what began in or after the last step; the same events are left out of the file before
dwell reads it. Figures must be within 0.1% of HTA's unrounded ones. Where HTA has a fault of those
that its README lists, dwell must agree with FileFigures, which computes the figure from the JSON.
"""
import collections
import decimal
import gzip
import json
import lzma
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data"))
import unpacked  # noqa: E402

LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync"}
WORK = {"kernel": 0, "gpu_memcpy": 2, "gpu_memset": 2}
HTA_CLASS = {"COMPUTATION": "compute", "COMMUNICATION": "communication", "MEMORY": "copy"}
SETS = {  # HTA's name of a set of classes -> dwell's column
    "COMPUTATION": "only_compute_ns", "COMMUNICATION": "only_communication_ns", "MEMORY": "only_copy_ns",
    "COMPUTATION overlapping COMMUNICATION": "compute_communication_ns",
    "COMPUTATION overlapping MEMORY": "compute_copy_ns", "COMMUNICATION overlapping MEMORY": "communication_copy_ns",
    "COMPUTATION overlapping COMMUNICATION overlapping MEMORY": "all_classes_ns"}
# Where HTA's figures are not what happened, by the numbers in its README: trace -> figures.
FAULTS = {
    "alexnet_a100": {"temporal": 2, "sets": 2, "names": 2},       # waits count as work
    "event_sync_a100": {"temporal": 2, "sets": 2, "names": 2},
    "event_sync_streams_a100": {"temporal": 2, "sets": 2, "names": 2},
    "triton_a100": {"temporal": 3, "sets": 3, "names": 3, "idle": 3, "queue": 3},  # an operator counts as a kernel
    "diff_test_v100": {"idle": 7, "queue": 8},                    # negative gaps; launches of graphs
}
counts = {True: 0, False: 0}


def check(what, good, found=""):
    counts[bool(good)] += 1
    if not good:
        print(f"FAIL {what}: {found}")


def near(got, want, share=1e-3, least=0.0):
    return abs(got - want) <= max(share * abs(want), least)


def dwell_view(trace, view):
    """{part: [row, ...]}, rows as dictionaries. `trace`: a path, or the paths of a job's ranks."""
    paths = [trace] if isinstance(trace, str) else trace
    done = subprocess.run([DWELL, "report", *paths, "--view", view, "--limit", "all", "--format", "json"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr)
        return collections.defaultdict(list)
    parts = collections.defaultdict(list)
    for part in json.loads(done.stdout)["views"]:
        names = [column["name"] for column in part["columns"]]
        parts[part.get("part") or part["view"]] = [dict(zip(names, row)) for row in part["rows"]]
    return parts


# ---- the file itself -------------------------------------------------------------------------

def ns(microseconds):
    """Exactly: a double has too few bits for the ns of today."""
    return int(decimal.Decimal(repr(microseconds)) * 1000)


def is_work(event):
    return event.get("ph") == "X" and event.get("cat") in WORK


def union(intervals):
    total, end = 0, None
    for start, stop in sorted(intervals):
        if end is None or start > end:
            end = start
        if stop > end:
            total += stop - end
            end = stop
    return total


class FileFigures:
    """What HTA computes, from the JSON, without its faults."""

    def __init__(self, events):
        self.work = [event for event in events if is_work(event)]
        self.first = min(float(event["ts"]) for event in events if "ts" in event)
        self.calls = {event["args"]["correlation"]: event for event in events
                      if event.get("ph") == "X" and event.get("cat") in ("cuda_runtime", "cuda_driver")
                      and "correlation" in event.get("args", {})}
        self.spans = collections.defaultdict(list)  # by class
        self.streams = collections.defaultdict(list)
        for event in self.work:
            start = ns(event["ts"])
            span = (start, start + ns(event["dur"]))
            communication = event["cat"] == "kernel" and event["name"].startswith("nccl")
            self.spans[1 if communication else WORK[event["cat"]]].append(span)
            self.streams[event["args"].get("stream")].append(event)

    def temporal(self):
        every = [span for spans in self.spans.values() for span in spans]
        span = max(stop for _, stop in every) - min(start for start, _ in every)
        busy, compute = union(every), union(self.spans[0])
        return {"span": span, "idle": span - busy, "compute": compute, "other": busy - compute}

    def gaps(self, number=ns, short=30000):
        """{stream: [host late, short, other]} in ns; with number=float in microseconds, as HTA adds."""
        found = {}
        for stream, events in self.streams.items():
            end, sums = None, [0, 0, 0]
            spans = [(number(event["ts"]), number(event["dur"]), event["args"].get("correlation")) for event in events]
            for start, duration, correlation in sorted(spans, key=lambda span: span[:2]):
                if end is not None and start > end:
                    call = self.calls.get(correlation)
                    late = call is not None and number(call["ts"]) > end
                    sums[0 if late else 1 if start - end < short else 2] += start - end
                end = start + duration if end is None else max(end, start + duration)
            found[stream] = sums
        return found

    def names(self):
        found = collections.defaultdict(list)
        for event in self.work:
            found[event["name"]].append(ns(event["dur"]))
        return found

    def depth(self, begins_first=False):
        """{stream: values at the points of change}; at one time the submission counts first, or the begin."""
        found = {}
        for stream, events in self.streams.items():
            points = []
            for event in events:
                call = self.calls.get(event["args"].get("correlation"))
                if call:
                    points += [(ns(call["ts"]), begins_first, 1), (ns(event["ts"]), not begins_first, -1)]
            value, values = 0, []
            for _, _, change in sorted(points):
                value += change
                values.append(value)
            found[stream] = values
        return found


def hta_filter(events, include_last):
    """The events that HTA keeps."""
    steps = {event["name"]: event for event in events
             if event.get("ph") == "X" and str(event.get("name", "")).startswith("ProfilerStep")
             and event.get("cat") == "user_annotation"}
    if len(steps) < 2:
        return events
    last = max(steps.values(), key=lambda step: float(step["ts"]))
    limit = float(last["ts"]) + float(last["dur"]) if include_last else float(last["ts"])

    def in_time(event):
        return float(event["ts"]) <= limit if include_last else float(event["ts"]) < limit

    def has_stream(event):
        stream = event.get("args", {}).get("stream", -1)
        return isinstance(stream, int) and stream != -1  # calls of HIP have "0x0"

    host = [event for event in events if event.get("ph") != "M" and not has_stream(event)]
    numbers = {event["args"]["correlation"] for event in host
               if "ts" in event and in_time(event) and event.get("args", {}).get("correlation", -1) != -1}
    return [event for event in events
            if event.get("ph") == "M" or "ts" not in event or
            (event.get("args", {}).get("correlation") in numbers if has_stream(event) else in_time(event))]


# ---- comparing ---------------------------------------------------------------------------------

def compare_temporal(name, device, golden, figures, fault):
    want = golden["temporal_breakdown"][0]
    busy = device["span_ns"] - device["idle_ns"]
    got = {"span": device["span_ns"], "idle": device["idle_ns"], "compute": device["compute_ns"],
           "other": busy - device["compute_ns"]}
    check(f"{name}: temporal is the file's", got == figures.temporal(), (got, figures.temporal()))
    if fault:
        return
    keys = {"span": "kernel_time(us)", "idle": "idle_time(us)", "compute": "compute_time(us)",
            "other": "non_compute_time(us)"}
    for key, label in keys.items():
        check(f"{name}: temporal {key}", near(got[key] / 1000, want[label], least=0.01), (got[key] / 1000, want[label]))


def compare_sets(name, device, golden, unrounded, fault):
    if fault:
        return
    for row in golden["gpu_kernel_breakdown"][0]:
        got = device[SETS[row["kernel_type"]]] / 1000
        # HTA cuts each interval to whole microseconds (fault 5): it has up to 1 us less for each.
        least = device["events"] if unrounded else 0
        check(f"{name}: {row['kernel_type']}", near(got, row["sum"], 1e-3, least), (got, row["sum"]))


def compare_names(name, rows, golden, figures, fault):
    found = {row["name"]: row for row in rows}
    files = figures.names()
    for label, durations in files.items():
        row = found.get(label)
        good = (row and row["calls"] == len(durations) and row["total_ns"] == sum(durations) and
                row["min_ns"] == min(durations) and row["max_ns"] == max(durations))
        check(f"{name}: {label[:40]} is the file's", good, (row, len(durations), sum(durations)))
    check(f"{name}: as many names", len(found) == len(files), (len(found), len(files)))
    for want in golden["gpu_kernel_breakdown"][1] if not fault else []:
        row = found.get(want["name"])
        if want["kernel_type"] not in HTA_CLASS:
            continue
        good = (row and near(row["total_ns"] / 1000, want["sum (us)"], least=0.002) and
                near(row["max_ns"] / 1000, want["max (us)"], least=0.002) and
                near(row["min_ns"] / 1000, want["min (us)"], least=0.002) and
                near(row["mean_ns"] / 1000, want["mean (us)"], least=0.002) and
                near(row["deviation_ns"] / 1000, want["stddev"] or 0, least=0.002) and
                row["class"] == HTA_CLASS[want["kernel_type"]])
        check(f"{name}: kernel {want['name'][:40]}", good, (row, want))


def compare_overlap(name, device, golden):
    want = golden["comm_comp_overlap"][0]["comp_comm_overlap_pctg"]
    if want is None:
        check(f"{name}: no communication", device["communication_ns"] == 0, device["communication_ns"])
    else:
        got = 100 * device["hidden_ns"] / device["communication_ns"]
        check(f"{name}: overlap", near(got, want, 1e-3, 0.0051), (got, want))  # HTA rounds to 0.01


def compare_idle(name, streams, golden, figures, fault):
    columns = {"host_wait": "late_ns", "kernel_wait": "short_ns", "other": "waiting_ns"}
    rows = {row["stream"]: row for row in streams}
    doubles = figures.gaps(lambda time: float(time) - figures.first if time >= figures.first else float(time), 30)

    def in_doubles(want):
        """HTA takes the first time from all as doubles, whose steps are 0.25 us where times are 1.7e15 us, and
        the file's are so too, cut to a digit: a launch then begins before the work before it ends, or after."""
        return near(doubles[want["stream"]][list(columns).index(want["idle_category"])], want["idle_time"], least=0.011)

    for stream, sums in figures.gaps().items():
        row = rows.get(str(stream))
        check(f"{name}: gaps of stream {stream} are the file's",
              row and [row[column] for column in columns.values()] == sums, (row, sums))
    for want in golden["idle_time_breakdown"][0] if not fault else []:
        row = rows.get(str(want["stream"]))
        got = row[columns[want["idle_category"]]] / 1000 if row else None
        check(f"{name}: stream {want['stream']} {want['idle_category']}",
              row and (near(got, want["idle_time"], least=0.011) or in_doubles(want)), (got, want["idle_time"]))


def compare_queue(name, streams, golden, figures, fault):
    rows = {row["stream"]: row for row in streams}
    first = figures.depth(begins_first=True)
    for stream, values in figures.depth().items():
        row = rows.get(str(stream))
        good = row and (not values or (row["depth_points"] == len(values) and row["depth_max"] == max(values) and
                                       near(row["depth_point_mean"], statistics.fmean(values), 1e-8, 1e-8)))
        check(f"{name}: depth of stream {stream} is the file's", good, (row, len(values)))
    for want in golden["queue_length_summary"] or [] if not fault else []:
        row = rows.get(str(want["stream"]))
        pairs = {"depth_points": "count", "depth_max": "max", "depth_min": "min", "depth_point_mean": "mean",
                 "depth_point_deviation": "std", "depth_p25": "25%", "depth_p50": "50%", "depth_p75": "75%"}
        good = row and all(near(row[mine], want["queue_length_" + his] or 0, least=1e-6) for mine, his in pairs.items())
        if row and not good:  # at equal times HTA's order is chance: its mean is between those of both orders
            values = first[want["stream"]]
            good = (row["depth_points"] == want["queue_length_count"] and
                    statistics.fmean(values) <= want["queue_length_mean"] <= row["depth_point_mean"])
        check(f"{name}: queue of stream {want['stream']}", good, (row, want))


def compare_launches(name, launches, golden):
    want = golden["cuda_kernel_launch_stats"]["0"]
    rows = [row for row in launches if row["call"] in LAUNCHES]
    columns = {"cpu_duration": "call_ns", "gpu_duration": "device_ns", "launch_delay": "delay_ns"}
    events = sum(row["events"] for row in rows)
    check(f"{name}: launches", events == want["count"], (events, want["count"]))
    if not want["count"]:
        return
    for key, column in columns.items():
        got = sum(row[column] for row in rows) / 1000
        check(f"{name}: {key} of launches", near(got, want["sum"][key], least=0.01), (got, want["sum"][key]))
        most = {"call_ns": "call_max_ns", "device_ns": "device_max_ns", "delay_ns": "delay_max_ns"}[column]
        got = max(row[most] for row in rows) / 1000
        check(f"{name}: longest {key}", near(got, want["max"][key], least=0.001), (got, want["max"][key]))
    for key, column in {"runtime_outliers(cpu>50us)": "slow_calls", "launch_delay_outliers(>100us)": "late_starts",
                        "short_kernels(cpu<=50us and gpu<cpu)": "longer_than_device"}.items():
        got = sum(row[column] for row in rows)
        check(f"{name}: {key}", got == want[key], (got, want[key]))


# json.dump() would write each value by itself, in Python: most of this test's time.
def compare_trace(name, events, golden, unrounded, folder):
    path = os.path.join(folder, "trace.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps({"traceEvents": events}))
    figures, faults = FileFigures(events), FAULTS.get(name.split()[0], {})
    views = {view: dwell_view(path, view) for view in ("device", "kernels", "streams")}
    check(f"{name}: one device", len(views["device"]["devices"]) == 1, views["device"]["devices"])
    if len(views["device"]["devices"]) != 1:
        return
    device = views["device"]["devices"][0]
    compare_temporal(name, device, golden, figures, faults.get("temporal"))
    compare_sets(name, device, golden, unrounded, faults.get("sets"))
    compare_names(name, views["kernels"]["names"], golden, figures, faults.get("names"))
    compare_overlap(name, device, golden)
    compare_idle(name, views["streams"]["streams"], golden, figures, faults.get("idle"))
    compare_queue(name, views["streams"]["streams"], golden, figures, faults.get("queue"))
    compare_launches(name, views["streams"]["launches"], golden)


def compare_ranks(folder, traces, golden):
    """Two ranks at once: what the device of each does, and that `dwell ranks` knows both."""
    names, paths = ("sampled_rank0", "sampled_rank1"), []
    for name in names:
        paths.append(os.path.join(folder, name + ".json"))
        with gzip.open(os.path.join(traces, name + ".json.gz"), "rt", encoding="utf-8") as file:
            events = hta_filter(json.load(file)["traceEvents"], include_last=True)
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(json.dumps({"traceEvents": events, "distributedInfo": {"rank": int(name[-1]), "world_size": 2}}))
    devices = {row["device"]: row for row in dwell_view(paths, "device")["devices"]}
    for want, overlap in zip(golden["temporal_breakdown"], golden["comm_comp_overlap"]):
        row = devices.get(f"rank {want['rank']} device {want['rank']}")
        check(f"both ranks: rank {want['rank']} has a device", row, sorted(devices))
        if not row:
            continue
        got = {"kernel_time(us)": row["span_ns"], "idle_time(us)": row["idle_ns"], "compute_time(us)": row["compute_ns"],
               "non_compute_time(us)": row["span_ns"] - row["idle_ns"] - row["compute_ns"]}
        check(f"both ranks: times of rank {want['rank']}",
              all(near(got[key] / 1000, want[key], least=0.01) for key in got), (got, want))
        hidden = 100 * row["hidden_ns"] / row["communication_ns"]
        check(f"both ranks: overlap of rank {want['rank']}",
              near(hidden, overlap["comp_comm_overlap_pctg"], 1e-3, 0.0051), (hidden, overlap))
    done = subprocess.run([DWELL, "ranks", *paths, "--format", "json"], capture_output=True, text=True, check=False)
    table = json.loads(done.stdout)["views"][0] if not done.returncode else {"rows": [], "columns": []}
    columns = [column["name"] for column in table["columns"]]
    found = [(row[columns.index("rank")], row[columns.index("steps")]) for row in table["rows"]]
    check("both ranks: dwell ranks compares two steps", found == [(0, 2), (1, 2)], (found, done.stderr))


def main():
    traces = os.path.join(unpacked.folder(DWELL), "kineto")
    goldens = os.path.join(unpacked.HERE, "kineto/hta")
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(os.listdir(traces)):
            name = name.removesuffix(".json.gz")
            if not os.path.exists(os.path.join(traces, name + ".json.gz")) or (ONLY and name not in ONLY):
                continue
            with gzip.open(os.path.join(traces, name + ".json.gz"), "rt", encoding="utf-8", errors="replace") as file:
                events = json.load(file, strict=False)["traceEvents"]
            unrounded = os.path.join(goldens, name + ".unrounded.json.xz")
            golden_path = unrounded if os.path.exists(unrounded) else os.path.join(goldens, name + ".json.xz")
            with lzma.open(golden_path, "rt", encoding="utf-8") as file:
                golden = json.load(file)
            for option in ("default", "include_last_profiler_step"):
                if isinstance(golden[option], dict):
                    compare_trace(f"{name} {option}", hta_filter(events, option != "default"), golden[option],
                                  golden_path == unrounded, folder)
        if not ONLY or "sampled_both" in ONLY:
            with lzma.open(os.path.join(goldens, "sampled_both.json.xz"), "rt", encoding="utf-8") as file:
                compare_ranks(folder, traces, json.load(file)["include_last_profiler_step"])
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    DWELL = os.path.abspath(sys.argv[1])
    ONLY = sys.argv[2:]
    sys.exit(main())
