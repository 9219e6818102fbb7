#!/usr/bin/env python3
"""What a public trace shows, by the trace alone: tests/strangers/facts.py FILE...

Labels are written from this output, from what a trace's authors say of it, and never from dwell's. The script shares no
code with dwell. It reads Chrome JSON of PyTorch's profiler, SQLite exports of Nsight Systems and XSpaces of JAX.
"""

import collections
import gzip
import json
import sqlite3
import sys

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


def union(spans):
    """The merged spans of a list of (begin, end)."""
    merged = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def total(spans):
    return sum(end - begin for begin, end in spans)


def share(part, whole):
    return f"{100 * part / whole:.2f}%" if whole else "-"


def top(table, whole, count=8):
    for name, (time, number) in sorted(table.items(), key=lambda row: -row[1][0])[:count]:
        print(f"      {time / 1000:10.3f} ms {share(time, whole):>8} {number:6}x  {name[:110]}")


def sums(events):
    table = collections.defaultdict(lambda: [0, 0])
    for name, time in events:
        table[name][0] += time
        table[name][1] += 1
    return table


def open_at(events, moment):
    """Names of the events of each thread that are open at a moment, outermost first."""
    found = collections.defaultdict(list)
    for event in events:
        if event["ts"] > moment:
            break
        if event["ts"] + event["dur"] > moment:
            found[event["tid"]].append(event["name"])
    return {thread: names for thread, names in found.items()}


def chrome_events(path):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rb") as file:
        data = json.loads(file.read().decode("utf-8", "replace"), strict=False)
    events = data["traceEvents"] if isinstance(data, dict) else data
    for event in events:
        if isinstance(event, dict) and event.get("ph") == "X" and "ts" in event:
            event["ts"] = float(event["ts"])
            event["dur"] = float(event.get("dur") or 0)
            event.setdefault("cat", "")
            yield event


def is_device(event):
    return event["cat"].lower() in DEVICE or event["cat"] in ("Kernel", "Memcpy", "Memset")


def device_facts(device, host):
    begin = min(event["ts"] for event in device)
    end = max(event["ts"] + event["dur"] for event in device)
    busy = union((event["ts"], event["ts"] + event["dur"]) for event in device)
    if host:
        left = min(event["ts"] for event in host)
        right = max([end] + [event["ts"] + event["dur"] for event in host])
        print(f"  device idle over the whole trace of {(right - left) / 1000:.3f} ms: "
              f"{share(right - left - total(busy), right - left)}; before its first event {share(begin - left, right - left)}"
              f", after its last {share(right - end, right - left)}")
    print(f"  device: {len(device)} events over {(end - begin) / 1000:.3f} ms, busy {share(total(busy), end - begin)},"
          f" streams {len({(e.get('pid'), e.get('tid')) for e in device})}")
    kinds = {"copies": lambda e: "emcpy" in e["name"] or "memcpy" in e["cat"].lower(),
             "sets": lambda e: "memset" in e["cat"].lower(),
             "communication": lambda e: any(word in e["name"].lower() for word in ("nccl", "rccl", "allreduce"))}
    for kind, test in kinds.items():
        spans = union((e["ts"], e["ts"] + e["dur"]) for e in device if test(e))
        print(f"    {kind}: {share(total(spans), end - begin)} of the span, {share(total(spans), total(busy))} of busy")
    rest = union((e["ts"], e["ts"] + e["dur"]) for e in device if not any(test(e) for test in kinds.values()))
    print(f"    other kernels: {share(total(rest), end - begin)} of the span; median of a device event "
          f"{sorted(e['dur'] for e in device)[len(device) // 2]:.1f} us")
    print("    top kernels, share of the span:")
    top(sums((e["name"], e["dur"]) for e in device), end - begin)
    gaps = [(after[0] - before[1], before[1], after[0]) for before, after in zip(busy, busy[1:])]
    waits = idle_reasons(gaps, device, host)
    print(f"    idle {share(sum(gap[0] for gap in gaps), end - begin)} in {len(gaps)} gaps; "
          + "; ".join(f"{name} {share(time, end - begin)}" for name, time in waits.items()))
    for length, left, right in sorted(gaps, reverse=True)[:4]:
        names = {thread: [n for n in stack if not n.startswith("<built-in")][-6:]
                 for thread, stack in open_at(host, (left + right) / 2).items()}
        print(f"      gap {length / 1000:.3f} ms at {(left - begin) / 1000:.3f} ms; host at its middle: {names}")


def idle_reasons(gaps, device, host):
    """Idle time by whether the event that ends a gap was submitted when the gap began."""
    launches = {}
    for event in host:
        number = event.get("args", {}).get("correlation")
        if number is not None and event["cat"] in ("cuda_runtime", "cuda_driver", "Runtime", "hip_runtime"):
            launches[number] = event["ts"]
    starts = {}
    for event in device:
        args = event.get("args", {})
        starts.setdefault(event["ts"], launches.get(args.get("correlation")))
    waits = collections.Counter()
    for length, left, right in gaps:
        launched = starts.get(right)
        if launched is None:
            waits["launch unknown"] += length
        elif launched <= left:
            waits["submitted before"] += length
        else:
            waits["not yet submitted"] += min(length, launched - left)
            waits["submitted, not started"] += max(0, right - max(left, launched))
    return waits


def chrome(path):
    events = sorted(chrome_events(path), key=lambda event: (event["ts"], -event["dur"]))
    kinds = collections.Counter(event["cat"] for event in events)
    print(f"  events by category: {dict(kinds.most_common(12))}")
    device = [event for event in events if is_device(event)]
    host = [event for event in events if not is_device(event) and event["cat"] not in
            ("ac2g", "gpu_user_annotation", "overhead", "Trace", "cuda_sync")]
    whole = max(e["ts"] + e["dur"] for e in host or device) - min(e["ts"] for e in host or device)
    print(f"  host span {whole / 1000:.3f} ms")
    steps = [e for e in host if e["name"].startswith("ProfilerStep")]
    print(f"  ProfilerStep: {len(steps)} of {[round(e['dur'] / 1000, 3) for e in steps][:8]} ms")
    notes = sums((e["name"].split("#")[0], e["dur"]) for e in host if e["cat"] == "user_annotation")
    if notes:
        print("    annotations, share of the host's span:")
        top(notes, whole, 12)
    for thread, list_of in sorted(by_thread(host).items(), key=lambda row: -len(row[1]))[:3]:
        spans = union((e["ts"], e["ts"] + e["dur"]) for e in list_of)
        print(f"    thread {thread}: {len(list_of)} events, covered {share(total(spans), whole)}; self time, cpu_op etc.:")
        top(self_times(list_of), whole, 10)
    if device:
        device_facts(device, host)


def by_thread(events):
    threads = collections.defaultdict(list)
    for event in events:
        threads[(event.get("pid"), event.get("tid"))].append(event)
    return threads


def self_times(events):
    """Time in each name without what is nested in it, of one thread's sorted events. An event that outlasts the one
    around it, as a step that profiler.step() begins, is nested in the next one outside."""
    table = collections.defaultdict(lambda: [0, 0])
    stack = []
    for event in events:
        end = event["ts"] + event["dur"]
        while stack and stack[-1]["ts"] + stack[-1]["dur"] < (end - 0.01 if event["dur"] else event["ts"]):
            stack.pop()
        if stack:
            table[stack[-1]["name"]][0] -= event["dur"]
        table[event["name"]][0] += event["dur"]
        table[event["name"]][1] += 1
        stack.append(event)
    return table


def nsight(path):
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    tables = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    rows = {name: base.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}
    print("  tables:", {name: count for name, count in rows.items() if count and ("CUPTI" in name or "NVTX" in name
                                                                                  or "OSRT" in name)})
    names = dict(base.execute("SELECT id, value FROM StringIds"))
    device, host = [], []
    for table, category in (("CUPTI_ACTIVITY_KIND_KERNEL", "kernel"), ("CUPTI_ACTIVITY_KIND_MEMCPY", "gpu_memcpy"),
                            ("CUPTI_ACTIVITY_KIND_MEMSET", "gpu_memset")):
        if rows.get(table):
            columns = [row[1] for row in base.execute(f"PRAGMA table_info({table})")]
            for values in base.execute(f"SELECT * FROM {table}"):
                row = dict(zip(columns, values))
                device.append({"ts": row["start"] / 1000, "dur": (row["end"] - row["start"]) / 1000, "cat": category,
                               "name": names.get(row.get("shortName"), f"memcpy kind {row.get('copyKind')}"
                                                 if category == "gpu_memcpy" else category),
                               "pid": row.get("deviceId"), "tid": row.get("streamId"),
                               "args": {"correlation": row.get("correlationId")}})
    if rows.get("CUPTI_ACTIVITY_KIND_RUNTIME"):
        for start, end, thread, number, name in base.execute(
                "SELECT start, end, globalTid, correlationId, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start"):
            host.append({"ts": start / 1000, "dur": (end - start) / 1000, "cat": "cuda_runtime", "tid": thread,
                         "name": names.get(name, "?"), "args": {"correlation": number}})
    if rows.get("NVTX_EVENTS"):
        for start, end, thread, text, number in base.execute("SELECT start, end, globalTid, text, textId FROM NVTX_EVENTS"):
            if end:
                host.append({"ts": start / 1000, "dur": (end - start) / 1000, "cat": "user_annotation", "tid": thread,
                             "name": text or names.get(number, "?")})
    host.sort(key=lambda event: (event["ts"], -event["dur"]))
    for kind in ("cuda_runtime", "user_annotation"):
        chosen = [e for e in host if e["cat"] == kind]
        if chosen:
            print(f"  {kind}:")
            top(sums((e["name"], e["dur"]) for e in chosen), max(e["ts"] + e["dur"] for e in host) - host[0]["ts"], 14)
    for number in sorted({event["pid"] for event in device}):
        print(f"  device {number}")
        device_facts([event for event in device if event["pid"] == number], host)


def fields(data):
    """(number, value) of a message in protobuf's encoding."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size
        else:
            at += 8 if key & 7 == 1 else 4
            yield key >> 3, None


def xspace(path):
    """Planes, lines and the names with most time of an XSpace, which JAX's profiler writes."""
    with open(path, "rb") as file:
        planes = [value for number, value in fields(file.read()) if number == 1]
    for plane in planes:
        parts = list(fields(plane))
        names = {}
        for number, value in parts:
            if number == 4:
                entry = dict(fields(value))
                names[entry.get(1, 0)] = dict(fields(entry.get(2, b""))).get(2, b"").decode("utf-8", "replace")
        print(f"  plane {dict(parts).get(2, b'').decode()}")
        for line in [dict_of for number, dict_of in parts if number == 3]:
            values = list(fields(line))
            head = dict(values)
            events = [dict(fields(value)) for number, value in values if number == 4]
            if not events:
                continue
            spans = [(head.get(3, 0) / 1e3 + e.get(2, 0) / 1e6, head.get(3, 0) / 1e3 + (e.get(2, 0) + e.get(3, 0)) / 1e6)
                     for e in events]
            whole = max(end for _, end in spans) - min(begin for begin, _ in spans)
            print(f"    line {(head.get(11) or head.get(2, b'')).decode('utf-8', 'replace')}: {len(events)} events from "
                  f"{min(begin for begin, _ in spans) / 1e3:.3f} ms over {whole / 1e3:.3f} ms, busy {share(total(union(spans)), whole)}")
            top(sums((names.get(e.get(1), "?"), e.get(3, 0) / 1e6) for e in events), whole, 4)


def main():
    for path in sys.argv[1:]:
        print(path)
        (nsight if path.endswith(".sqlite") else xspace if path.endswith(".pb") else chrome)(path)


if __name__ == "__main__":
    main()
