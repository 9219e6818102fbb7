#!/usr/bin/env python3
"""Exports small traces and compares; then checks what any Chrome trace must hold.

usage: export_check.py [--update] MKTRACE EXPORT_TRACE
       export_check.py --check FILE.json...

--update writes the expected files anew. The rules (of --check, and of the small trace
exported here): it is strict JSON; "X" events of one thread nest; each "f" has an "s" of
its id, category and name before it; each "e" has its "b"; times are numbers >= 0; every thread
of an event has a name. The last line is "N passed, N failed".
"""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
counts = {True: 0, False: 0}


def check(condition, what):
    counts[bool(condition)] += 1
    if not condition:
        print(f"FAILED: {what}")
    return condition


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        return json.loads(file.read().decode("utf-8"), parse_constant=refuse)


def ns(microseconds):
    return round(microseconds * 1000)


def unnested(events):
    """The first event that lies neither in the one before nor apart, by thread."""
    threads = {}
    for event in events:
        if event["ph"] == "X":
            start = ns(event["ts"])
            threads.setdefault((event["pid"], event["tid"]), []).append(
                (start, -ns(event["dur"]), event["name"]))
    for key, ranges in threads.items():
        ranges.sort()
        ends = []
        for start, length, name in ranges:
            while ends and ends[-1] <= start:
                ends.pop()
            if ends and start - length > ends[-1]:
                return key, name, start
            ends.append(start - length)
    return None


def pairs(events, first, last, keys):
    """What is wrong with the ends of arrows and asynchronous ranges."""
    begun = {}
    for event in events:
        if event["ph"] == first:
            begun.setdefault(tuple(event[key] for key in keys), []).append(event["ts"])
    wrong = [e for e in events if e["ph"] == last
             and not any(ts <= e["ts"] for ts in begun.get(tuple(e[key] for key in keys), []))]
    repeated = [key for key, times in begun.items() if len(times) > 1]
    return wrong, repeated


def check_rules(name, trace):
    events = trace["traceEvents"]
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    check(unnested(events) is None, f"{name}: 'X' events nest: {unnested(events)}")
    for first, last, keys in (("s", "f", ("id", "cat", "name")), ("b", "e", ("id", "cat", "pid"))):
        wrong, repeated = pairs(events, first, last, keys)
        check(not wrong, f"{name}: each '{last}' has its '{first}': {wrong[:3]}")
        check(not repeated, f"{name}: ids of '{first}' are used once: {repeated[:3]}")
    ends = sum(e["ph"] == "e" for e in events)
    check(ends == sum(e["ph"] == "b" for e in events), f"{name}: each 'b' has its 'e'")
    check(all(e["ts"] >= 0 and e.get("dur", 0) >= 0 for e in events), f"{name}: times are >= 0")
    unnamed = [e for e in events if e["ph"] != "M" and (e["pid"], e["tid"]) not in named]
    check(not unnamed, f"{name}: threads have names: {unnamed[:1]}")
    check(all(isinstance(e["pid"], int) and isinstance(e["tid"], int) for e in events),
          f"{name}: pids and tids are integers")


def compare(path, name, update):
    expected = os.path.join(HERE, name)
    with open(path, encoding="utf-8", newline="") as file:
        got = file.read()
    if update:
        with open(expected, "w", encoding="utf-8", newline="") as file:
            file.write(got)
        return
    with open(expected, encoding="utf-8", newline="") as file:
        wanted = file.read()
    # a release changes the version and nothing else
    for pattern in (r'"version":"[^"]*"', r'"exporter":"dwell [^"]*"', r'6: "dwell [^ ]*;'):
        version = re.search(pattern, got)
        if version:
            wanted = re.sub(pattern, version.group(), wanted, count=1)
    for number, (line, want) in enumerate(zip(got.splitlines(), wanted.splitlines()), 1):
        if not check(line == want, f"{name}:{number}:\n  got      {line}\n  expected {want}"):
            return
    check(got == wanted, f"{name}: as long as expected")


# Fields that are messages, by the field they lie in; lists of packed numbers.
PERFETTO = {1: {6: {1: {}}, 11: {4: {}}, 12: {1: {}, 2: {}}, 60: {3: {}, 4: {}, 8: {}}}}
XPLANE = {1: {3: {4: {4: {}}}, 4: {2: {}}, 5: {2: {}}, 6: {}}}
PPROF = {1: {}, 2: {1: list, 2: list, 3: {}}, 4: {4: {}}, 5: {}}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def proto_lines(data, messages, indent=""):
    """A protocol buffer as text, a field a line: "NUMBER: VALUE"."""
    at, lines = 0, []
    while at < len(data):
        key, at = varint(data, at)
        field, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = data[at:at + 8].hex(), at + 8
        else:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        inner = messages.get(field)
        if inner is list:
            value = packed(value)
        elif inner is not None:
            lines.append(f"{indent}{field}:")
            lines += proto_lines(value, inner, indent + "  ")
            continue
        elif wire == 2:
            value = json.dumps(value.decode("utf-8"), ensure_ascii=False)
        lines.append(f"{indent}{field}: {value}")
    return lines


def as_text(path, messages):
    with open(path, "rb") as file:
        data = file.read()
    with open(path + ".txt", "w", encoding="utf-8", newline="") as file:
        file.write("\n".join(proto_lines(data, messages)) + "\n")


def check_samples(document):
    """A thread with samples alone: they are in order of time."""
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    engine, poll = document["profiles"]
    paths = [[frames[frame] for frame in sample] for sample in engine["samples"]]
    inner = [path[-1] for path in paths]
    check((engine["type"], engine["name"], engine["unit"]) == ("sampled", "engine (400)", "nanoseconds"), "samples: a profile")
    check(paths[0] == ["main", "read_weights"] and inner[1:5] == ["gemm", "gemm", "gemm", "relu"] and inner[-1] == "(unknown)",
          f"samples: in order of time: {inner[:6]}")
    check(sum(engine["weights"]) == engine["endValue"] == 243 * 4000000, "samples: their CPU time")
    check(sum(poll["weights"]) == 200 * 4000000, "samples: those of the other thread")


def check_sampled_timeline(document):
    """The same in a timeline: functions, in a row of their own for each thread."""
    rows = {event["tid"]: event["args"]["name"] for event in document["traceEvents"] if event["name"] == "thread_name"}
    events = [event for event in document["traceEvents"] if event.get("cat") == "sample"]
    engine = [event for event in events if rows[event["tid"]] == "engine (samples)"]
    outer = [event for event in engine if event["name"] == "main"]
    check(len(rows) == 4 and {rows[event["tid"]] for event in events} == {"engine (samples)", "poll (samples)"},
          f"timeline of samples: rows {rows}")
    check([event["name"] for event in engine if event["name"] in ("read_weights", "relu")] == ["read_weights"] + 60 * ["relu"],
          "timeline of samples: functions in order of time")
    check(len(outer) == 1 and outer[0]["ts"] == 0 and outer[0]["dur"] >= 60 * 20000,
          f"timeline of samples: main is open throughout: {outer[:3]}")


def check_small(mktrace, export, update):
    with tempfile.TemporaryDirectory() as folder:
        def run(*command):
            done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, check=False)
            check(done.returncode == 0, f"{command}: {done.stderr.decode()}")
            return done.stdout

        source = os.path.join(folder, "small.txt")
        with open(os.path.join(HERE, "export_small.txt"), "rb") as file:
            text = file.read()
        with open(source, "wb") as file:
            file.write(text.replace("\u00c3".encode(), b"\xc3"))
        run(mktrace, source, "small.dwell")
        run(export, "chrome", "small.dwell", "small.json")
        run(export, "folded", "small.dwell", "small.folded")
        run(export, "speedscope", "small.dwell", "small.speedscope.json")
        for name in ("small.json", "small.folded", "small.speedscope.json"):
            compare(os.path.join(folder, name), "export_" + name, update)
        run(mktrace, os.path.join(HERE, "views", "samples_alone.txt"), "samples.dwell")
        check_samples(json.loads(run(export, "speedscope", "samples.dwell", "-")))
        check_sampled_timeline(json.loads(run(export, "chrome", "samples.dwell", "-")))
        for name, form, messages in (("small.perfetto", "perfetto", PERFETTO),
                                     ("small.xplane", "xplane", XPLANE),
                                     ("small.pprof", "pprof", PPROF)):
            run(export, form, "small.dwell", name)
            as_text(os.path.join(folder, name), messages)
            compare(os.path.join(folder, name + ".txt"), f"export_{name}.txt", update)
        run(mktrace, os.path.join(HERE, "export_stacks.txt"), "stacks.dwell")
        run(export, "pprof", "stacks.dwell", "stacks.pprof")
        as_text(os.path.join(folder, "stacks.pprof"), PPROF)
        compare(os.path.join(folder, "stacks.pprof.txt"), "export_stacks.pprof.txt", update)
        run(export, "chrome", "stacks.dwell", "stacks.json")
        compare(os.path.join(folder, "stacks.json"), "export_stacks.json", update)
        check_rules("stacks.json", load(os.path.join(folder, "stacks.json")))
        check_rules("small.json", load(os.path.join(folder, "small.json")))
        check(json.loads(run(export, "chrome", "small.dwell", "-"))["traceName"]
              == "standard output", "standard output is written")
        packed = subprocess.run([export, "chrome", "small.dwell", "small.json.gz"], cwd=folder,
                                stderr=subprocess.PIPE, check=False)
        if b"built without zlib" in packed.stderr:
            print("skip export .gz: built without zlib")
        elif check(packed.returncode == 0, f"small.json.gz: {packed.stderr.decode()}"):
            again, plain = (load(os.path.join(folder, n)) for n in ("small.json.gz", "small.json"))
            check(again["traceEvents"] == plain["traceEvents"], "compressed is the same")


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--check"]:
        for path in arguments[1:]:
            check_rules(path, load(path))
    else:
        update = arguments[:1] == ["--update"]
        mktrace, export = (os.path.abspath(a) for a in arguments[update:])
        check_small(mktrace, export, update)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
