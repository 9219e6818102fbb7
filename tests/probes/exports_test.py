#!/usr/bin/env python3
"""What other tools read out of dwell's exports, against what `dwell report` says.

usage: exports_test.py DWELL MKTRACE ["PROGRAM ARGUMENT..."...]
       exports_test.py --install

Readers that are not ours open the exports of hand-made traces and of a recorded run of
each PROGRAM: Perfetto's own protocol buffers, pprof's format in Python and in JavaScript,
speedscope's JSON schema, HolisticTraceAnalysis. Calls by name and sums of time and memory
must be those of `dwell report --format json`.

The readers are installed once per machine (pip into a venv, npm) into dwell/exports-readers in
the user's cache folder; --install does only that. What cannot be had is skipped by name. The
last line is "N passed, N failed, N skipped".
"""
import collections
import contextlib
import io
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data"))
import unpacked  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden")
TRACES = ["export_order", "export_stacks", "views/train", "views/memory", "views/ranks", "views/profiles", "views/names"]
REAL = ["nccl_a100.json.gz", "event_sync_streams_a100.json.gz", "mi250.json.gz"]
PIP = {"perfetto": "perfetto", "protobuf": "google.protobuf", "jsonschema": "jsonschema",
       "HolisticTraceAnalysis": "hta.trace_analysis"}
NPM = ["pprof-format", "speedscope"]
SECONDS = 300  # for each of the two installers
counts = collections.Counter()


def check(condition, what):
    counts["passed" if condition else "failed"] += 1
    if not condition:
        print(f"FAIL {what}")


def same(got, wanted, what):
    check(got == wanted, f"{what}: {short(got)}, not {short(wanted)}")


def near(got, wanted, truth, what):
    """Times. A program's clock ticks are rounded to nanoseconds range by range in an export and
    once in a report; a hand-made trace has nanoseconds."""
    if isinstance(wanted, dict):
        slack = {name: truth.calls[name] * truth.slack_ns for name in wanted}
        check(set(got) == set(wanted) and all(abs(got[name] - wanted[name]) <= slack[name]
                                              for name in wanted),
              f"{what}: {short(got)}, not {short(wanted)}")
    else:
        check(abs(got - wanted) <= truth.ranges * truth.slack_ns, f"{what}: {got}, not {wanted}")


def short(value):
    text = str(value)
    return text if len(text) < 300 else text[:300] + "..."


def skip(what, why):
    counts["skipped"] += 1
    print(f"skip {what}: {why}")


# ---- set-up -----------------------------------------------------------------------------


def quietly(*command, cwd=None):
    """Whether the command ended well."""
    try:
        return subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=SECONDS, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def readers_folder():
    home = os.environ.get("HOME")  # without it, as tools/venv does
    cache = os.environ.get("XDG_CACHE_HOME") or (os.path.join(home, ".cache") if home else os.path.join(HERE, "../../build-venv"))
    return os.path.join(cache, "dwell", "exports-readers-%d.%d" % sys.version_info[:2])


def enter_venv(folder):
    """Goes on in a Python that has the readers, as far as they can be had."""
    python = os.path.join(folder, "venv", "bin", "python")
    if os.environ.get("EXPORTS_TEST_IN_VENV") == "1":
        return
    if not os.path.exists(python) and not quietly(sys.executable, "-m", "venv",
                                                  os.path.join(folder, "venv")):
        return
    imports = "import " + ", ".join(PIP.values())
    if not quietly(python, "-c", imports) and not quietly(python, "-m", "pip", "install", "-q", *PIP):
        for name in PIP:
            quietly(python, "-m", "pip", "install", "-q", name)
    os.environ["EXPORTS_TEST_IN_VENV"] = "1"
    os.execv(python, [python, os.path.abspath(__file__), *sys.argv[1:]])


def install_node(folder):
    if not shutil.which("npm"):
        return
    if all(os.path.isdir(os.path.join(folder, "node_modules", name)) for name in NPM):
        return
    quietly("npm", "install", "--no-audit", "--no-fund", "--prefix", folder, *NPM)


# ---- what dwell says --------------------------------------------------------------------


class Truth:
    """Rows of `dwell report --format json`, as dictionaries."""

    def __init__(self, dwell, trace, slack_ns):
        self.dwell, self.trace, self.slack_ns = dwell, trace, slack_ns
        threads = self.rows("threads")
        self.ranges = sum(row["ranges"] for row in threads)
        self.busy_ns = sum(row["busy_ns"] for row in threads)
        self.calls, self.total_ns = collections.Counter(), collections.Counter()
        for row in self.rows("operators", "--limit", "all"):
            self.calls[row["name"]] += row["calls"]
            # All calls, also those within others of their name, which a total counts once. A mean
            # is rounded: it is used only where it says more than that.
            every = row["mean_ns"] * row["calls"]
            rounded = abs(every - row["total_ns"]) <= row["calls"]
            self.total_ns[row["name"]] += row["total_ns"] if rounded else every
        self.paths, path = collections.Counter(), []
        for row in self.rows("tree", "--limit", "all"):
            path[max(0, row["depth"] - 1):] = [row["name"]]
            if row["depth"]:
                self.paths[tuple(path)] += row["calls"]
        # what the golden text says: see there
        self.flows = [(1008008, 2003000), (1011008, 2000000), (1013008, 2001000)] \
            if trace.endswith("export_order.dwell") else []
        self.allocated = sum(row["allocated_bytes"] for row in self.rows("memory"))
        self.live = sum(row["live_bytes"] for row in self.rows("memory"))

    def rows(self, view, *options):
        done = subprocess.run([self.dwell, "report", self.trace, "--view", view, "--format", "json",
                               *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:  # nothing of that kind was recorded
            return []
        found = json.loads(done.stdout)["views"][0]
        names = [column["name"] for column in found["columns"]]
        return [dict(zip(names, row)) for row in found["rows"]]


def ns(microseconds):
    return round(microseconds * 1000)


# ---- readers ----------------------------------------------------------------------------


def read_chrome(path, truth, name):
    """Python's own JSON: what the others get to see."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    calls, totals, begun = collections.Counter(), collections.Counter(), {}
    ranges = 0
    for event in events:
        if event["ph"] not in "Xbe" or event["name"].startswith("ProfilerStep#"):
            continue
        ranges += "External id" in event.get("args", {})
        if event.get("cat") != "cpu_op":
            continue
        if event["ph"] == "b":
            begun[event["id"]] = event["ts"]
            continue
        calls[event["name"]] += 1
        totals[event["name"]] += ns(event["dur"]) if event["ph"] == "X" else \
            ns(event["ts"]) - ns(begun[event["id"]])
    same(ranges, truth.ranges, f"{name} chrome: ranges")
    same(calls, truth.calls, f"{name} chrome: calls")
    begins = {(e["cat"], e["id"]): ns(e["ts"]) for e in events if e["ph"] == "s"}
    flows = sorted((begins.get((e["cat"], e["id"])), ns(e["ts"])) for e in events if e["ph"] == "f")
    check(flows == truth.flows or truth.slack_ns, f"{name} chrome: flows {short(flows)}")
    near(totals, truth.total_ns, truth, f"{name} chrome: time")


def read_hta(path, truth, name):
    """Its parser, which keeps all; its analysis, which drops what follows the last step."""
    logging.disable(logging.CRITICAL)
    from hta.common.trace import Trace
    from hta.trace_analysis import TraceAnalysis
    files, folder = {0: path}, os.path.dirname(path)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        trace = Trace(trace_files=files, trace_dir=folder)
        trace.parse_traces(use_multiprocessing=False)
        analysed = TraceAnalysis(trace_files=files, trace_dir=folder,
                                 include_last_profiler_step=True).t
    symbols = trace.symbol_table.get_sym_table()
    frame = trace.get_trace(0)
    calls = collections.Counter(symbols[index] for index, category in zip(frame["name"], frame["cat"])
                                if symbols[category] == "cpu_op")
    with open(path, encoding="utf-8") as file:  # it leaves out what overlaps
        apart = collections.Counter(event["name"] for event in json.load(file)["traceEvents"]
                                    if event["ph"] == "b" and event["cat"] == "cpu_op")
    same(calls + apart, truth.calls, f"{name} HolisticTraceAnalysis: calls")
    steps = {row["step"] for row in truth.rows("steps", "--limit", "all") if "step" in row}
    found = set(analysed.get_iterations(0))
    check(found <= steps and (not steps or found), f"{name} HolisticTraceAnalysis: steps {found}, "
                                                   f"not {steps}")


def perfetto_slices(trace):
    """(category, path of names, nanoseconds) of each slice of a thread's and of other tracks, and
    how many begins and ends are left over. Nesting is what the order of packets says."""
    names, categories, tracks = {}, {}, collections.defaultdict(list)
    slices, wrong = [], 0
    for packet in trace.packet:
        names.update((entry.iid, entry.name) for entry in packet.interned_data.event_names)
        categories.update((entry.iid, entry.name) for entry in packet.interned_data.event_categories)
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    for packet in sorted(events, key=lambda packet: packet.timestamp):
        event = packet.track_event
        stack = tracks[event.track_uuid]
        if event.type == event.TYPE_SLICE_BEGIN:
            stack.append((packet.timestamp, event, event.name or names[event.name_iid]))
        elif event.type == event.TYPE_SLICE_END and not stack:
            wrong += 1
        elif event.type == event.TYPE_SLICE_END:
            path = tuple(name for _, _, name in stack)
            start, begin, _ = stack.pop()
            slices.append((categories.get(begin.category_iids[0]) if begin.category_iids else None,
                           path, packet.timestamp - start))
    return slices, wrong + sum(len(stack) for stack in tracks.values())


def perfetto_flows(trace):
    """(begin, end) in nanoseconds of each arrow."""
    begins, flows = {}, []
    for packet in trace.packet:
        begins.update((flow, packet.timestamp) for flow in packet.track_event.flow_ids)
    for packet in trace.packet:
        flows += [(begins.get(flow), packet.timestamp)
                  for flow in packet.track_event.terminating_flow_ids]
    return sorted(flows)


def read_perfetto(path, truth, name):
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    trace = perfetto_trace_pb2.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    slices, wrong = perfetto_slices(trace)
    calls, totals = collections.Counter(), collections.Counter()
    for category, path, took in slices:
        if category == "cpu_op":
            calls[path[-1]] += 1
            totals[path[-1]] += took
    same(wrong, 0, f"{name} perfetto: begins and ends without their other")
    same(calls, truth.calls, f"{name} perfetto: calls")
    near(totals, truth.total_ns, truth, f"{name} perfetto: time")
    paths = collections.Counter(path for category, path, _ in slices if category)
    # a range on a track of its own has lost its path
    apart = {d.name for d in (p.track_descriptor for p in trace.packet) if d.name and not
             d.HasField("counter")}
    same(*({path: count for path, count in found.items() if not apart & set(path)}
           for found in (paths, truth.paths)), f"{name} perfetto: call paths")
    flows = perfetto_flows(trace)
    if truth.slack_ns == 0:
        same(flows, truth.flows, f"{name} perfetto: flows")
    check(all(begin is not None and begin <= end for begin, end in flows),
          f"{name} perfetto: flows have begun")
    uuids = {p.track_descriptor.uuid for p in trace.packet if p.HasField("track_descriptor")}
    check({p.track_event.track_uuid for p in trace.packet if p.HasField("track_event")} <= uuids,
          f"{name} perfetto: each event's track is described")


def truth_of_devices(dwell, trace):
    """Events and nanoseconds by name, calls that submitted events, streams."""
    found = {}
    for view in ("kernels", "streams"):
        done = subprocess.run([dwell, "report", trace, "--view", view, "--format", "json", "--limit", "all"],
                              stdout=subprocess.PIPE, check=True)
        for table in json.loads(done.stdout)["views"]:
            names = [column["name"] for column in table["columns"]]
            found[table["part"]] = [dict(zip(names, row)) for row in table["rows"]]
    return ({row["name"]: (row["calls"], row["total_ns"]) for row in found["names"]},
            sum(row["events"] for row in found["launches"]), len(found["streams"]))


def read_perfetto_devices(path, dwell, trace, name):
    """Streams are tracks of their device, no event is lost or overlaps another one of its track, and
    an arrow leads from a call's slice to each event that it submitted."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    document = perfetto_trace_pb2.Trace()
    with open(path, "rb") as file:
        document.ParseFromString(file.read())
    work, launches, streams = truth_of_devices(dwell, trace)
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in document.packet
              if p.HasField("track_descriptor")}
    slices, wrong = perfetto_slices(document)
    sums = {}
    for category, way, took in slices:
        if category in ("kernel", "gpu_memcpy", "gpu_memset"):
            calls, total = sums.get(way[-1], (0, 0))
            sums[way[-1]] = (calls + 1, total + took)
            check(len(way) == 1, f"{name} perfetto: {way} overlaps in its track")
    same(wrong, 0, f"{name} perfetto: begins and ends without their other")
    same(sums, work, f"{name} perfetto: events of devices")
    named = [track for track in tracks.values() if track.name.startswith("stream ") and "," not in track.name]
    same(len(named), streams, f"{name} perfetto: streams")
    check(all(tracks[tracks[track.parent_uuid].parent_uuid].HasField("process") for track in named),
          f"{name} perfetto: a stream is in a device in a process")
    arrows = [(begin, end) for begin, end in perfetto_flows(document)]
    check(len(arrows) >= launches and all(begin is not None and begin <= end for begin, end in arrows),
          f"{name} perfetto: {len(arrows)} arrows, {launches} launches")


def check_devices(dwell, mktrace, folder):
    if not available("perfetto.protos.perfetto.trace.perfetto_trace_pb2", "devices in Perfetto's traces"):
        return
    traces = []
    for name in ("device", "device_train"):
        traces.append((name, os.path.join(folder, name + ".dwell")))
        done = subprocess.run([mktrace, os.path.join(GOLDEN, "views", name + ".txt"), traces[-1][1]], check=False)
        same(done.returncode, 0, f"{name}: mktrace")
    traces += [(name[:-8], os.path.join(unpacked.folder(dwell), "kineto", name)) for name in REAL]
    for name, trace in traces:
        path = os.path.join(folder, name + "-device.pftrace")
        done = subprocess.run([dwell, "export", trace, "--format", "perfetto", "-o", path],
                              stderr=subprocess.PIPE, check=False)
        same(done.returncode, 0, f"{name} perfetto: {done.stderr.decode()}")
        read_perfetto_devices(path, dwell, trace, name)


def check_pprof(types, samples, truth, name):
    """`samples`: (name of the innermost function, values)."""
    sums = collections.Counter()
    calls = collections.Counter()
    for leaf, values in samples:
        sums.update(dict(zip(types, values)))
        calls[leaf] += values[types.index("calls")]
    near(sums["time"], truth.busy_ns, truth, f"{name}: time")
    same(sums["calls"], truth.ranges, f"{name}: ranges")
    same({leaf: calls[leaf] for leaf in truth.calls}, dict(truth.calls), f"{name}: calls")
    same(sums["alloc_space"], truth.allocated, f"{name}: allocated")
    same(sums["inuse_space"], truth.live, f"{name}: live")


PPROF = {  # message: (field, number, type or message, repeated)
    "ValueType": [("type", 1, "int64", 0), ("unit", 2, "int64", 0)],
    "Label": [("key", 1, "int64", 0), ("str", 2, "int64", 0), ("num", 3, "int64", 0)],
    "Sample": [("location_id", 1, "uint64", 1), ("value", 2, "int64", 1), ("label", 3, "Label", 1)],
    "Line": [("function_id", 1, "uint64", 0), ("line", 2, "int64", 0)],
    "Location": [("id", 1, "uint64", 0), ("line", 4, "Line", 1)],
    "Function": [("id", 1, "uint64", 0), ("name", 2, "int64", 0), ("system_name", 3, "int64", 0),
                 ("filename", 4, "int64", 0)],
    "Profile": [("sample_type", 1, "ValueType", 1), ("sample", 2, "Sample", 1),
                ("location", 4, "Location", 1), ("function", 5, "Function", 1),
                ("string_table", 6, "string", 1), ("time_nanos", 9, "int64", 0),
                ("duration_nanos", 10, "int64", 0), ("comment", 13, "int64", 1),
                ("default_sample_type", 14, "int64", 0)],
}


def pprof_message():
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    file = descriptor_pb2.FileDescriptorProto(name="p.proto", package="p", syntax="proto3")
    for message, fields in PPROF.items():
        to = file.message_type.add(name=message)
        for field, number, kind, repeated in fields:
            added = to.field.add(name=field, number=number, label=3 if repeated else 1)
            if kind in PPROF:
                added.type, added.type_name = 11, ".p." + kind
            else:
                added.type = {"int64": 3, "uint64": 4, "string": 9}[kind]
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("p.Profile"))


def read_pprof(path, truth, name):
    profile = pprof_message()()
    with open(path, "rb") as file:
        profile.ParseFromString(file.read())
    strings = profile.string_table
    functions = {f.id: strings[f.name] for f in profile.function}
    leaves = {at.id: functions[at.line[0].function_id] for at in profile.location}
    check(strings[0] == "" and 0 not in functions and 0 not in leaves, f"{name} pprof: ids and strings")
    check_pprof([strings[t.type] for t in profile.sample_type],
                [(leaves[s.location_id[0]], s.value) for s in profile.sample], truth,
                f"{name} pprof (protobuf)")


NODE = """
import { readFileSync } from 'fs';
import { Profile } from 'pprof-format';
const profile = Profile.decode(readFileSync(process.argv[2]));
const text = i => profile.stringTable.strings[Number(i)];
const functions = new Map(profile.function.map(f => [String(f.id), text(f.name)]));
const leaves = new Map(profile.location.map(l => [String(l.id), functions.get(String(l.line[0].functionId))]));
console.log(JSON.stringify({ types: profile.sampleType.map(t => text(t.type)),
  samples: profile.sample.map(s => [leaves.get(String(s.locationId[0])), s.value.map(Number)]) }));
"""


def read_pprof_node(path, truth, name, folder):
    script = os.path.join(folder, "pprof.mjs")
    with open(script, "w", encoding="utf-8") as file:
        file.write(NODE)
    done = subprocess.run(["node", script, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    if done.returncode != 0:
        return check(False, f"{name} pprof-format: {done.stderr.decode()[-300:]}")
    found = json.loads(done.stdout)
    return check_pprof(found["types"], found["samples"], truth, f"{name} pprof (pprof-format)")


def read_speedscope(path, truth, name, schema):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if schema:
        import jsonschema
        try:
            jsonschema.validate(document, schema)
            check(True, "")
        except jsonschema.ValidationError as error:
            check(False, f"{name} speedscope: {error.message[:300]}")
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    busy, opened = 0, collections.Counter()
    for profile in document["profiles"]:
        if profile["type"] == "sampled":  # of a thread whose samples stand for more time than its ranges take
            same(len(profile["samples"]), len(profile["weights"]), f"{name} speedscope: each sample has a weight")
            continue
        same(profile["type"], "evented", f"{name} speedscope: by time")
        stack, last = [], 0
        for event in profile["events"]:
            check(last <= event["at"] <= profile["endValue"], f"{name} speedscope: {event} is in order of time")
            busy += event["at"] - last if stack else 0
            last = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
                opened[frames[event["frame"]]] += 1
            else:
                check(stack and stack.pop() == event["frame"], f"{name} speedscope: {event} ends the innermost")
        same(stack, [], f"{name} speedscope: all frames end")
    near(busy, truth.busy_ns, truth, f"{name} speedscope: time")
    check(all(opened[call] >= count for call, count in truth.calls.items()), f"{name} speedscope: calls")


# ---- all of them ------------------------------------------------------------------------


def available(module, what):
    try:
        __import__(module)
        return True
    except ImportError as error:
        skip(what, str(error))
        return False


def load_schema(folder):
    path = os.path.join(folder, "node_modules", "speedscope", "dist", "release",
                        "file-format-schema.json")
    if not os.path.exists(path):
        skip("speedscope's schema", "the npm package speedscope cannot be had")
        return None
    if not available("jsonschema", "speedscope's schema"):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def readers_of(folder):
    schema = load_schema(folder)
    readers = [("chrome", "json", read_chrome),
               ("speedscope", "speedscope.json", lambda *a: read_speedscope(*a, schema))]
    if available("hta.trace_analysis", "HolisticTraceAnalysis"):
        readers.append(("chrome", "json", read_hta))
    if available("perfetto.protos.perfetto.trace.perfetto_trace_pb2", "perfetto"):
        readers.append(("perfetto", "pftrace", read_perfetto))
    if available("google.protobuf", "pprof by protobuf"):
        readers.append(("pprof", "pb", read_pprof))
    if shutil.which("node") and os.path.isdir(os.path.join(folder, "node_modules", "pprof-format")):
        readers.append(("pprof", "pb", lambda *a: read_pprof_node(*a, folder)))
    else:
        skip("pprof by pprof-format", "node or the npm package pprof-format cannot be had")
    return readers


def check_trace(dwell, trace, name, readers, folder, slack_ns=0):
    truth = Truth(dwell, trace, slack_ns)
    written = {}
    check(truth.ranges > 0, f"{name}: it has ranges")
    for form, suffix, read in readers:
        path = written.get(form)
        if not path:
            path = written[form] = os.path.join(folder, f"{name}.{suffix}")
            done = subprocess.run([dwell, "export", trace, "--format", form, "-o", path],
                                  stderr=subprocess.PIPE, check=False)
            same(done.returncode, 0, f"{name} {form}: {done.stderr.decode()}")
        try:
            read(path, truth, name)
        except Exception as error:  # a reader that gives up is a failure, and the others go on
            check(False, f"{name} {form}: {type(error).__name__}: {error}")


def main():
    if len(sys.argv) < 3 and sys.argv[1:] != ["--install"]:
        sys.exit(__doc__.split("\n\n")[1])
    folder = readers_folder()
    os.makedirs(folder, exist_ok=True)
    enter_venv(folder)
    install_node(folder)
    if sys.argv[1:] == ["--install"]:
        return 0
    dwell, mktrace = (os.path.abspath(path) for path in sys.argv[1:3])
    readers = readers_of(folder)
    with tempfile.TemporaryDirectory() as work:
        for source in TRACES:
            name = os.path.basename(source)
            trace = os.path.join(work, name + ".dwell")
            done = subprocess.run([mktrace, os.path.join(GOLDEN, source + ".txt"), trace], check=False)
            same(done.returncode, 0, f"{name}: mktrace")
            check_trace(dwell, trace, name, readers, work)
        check_devices(dwell, mktrace, work)
        for command in sys.argv[3:]:
            program, *arguments = command.split()
            name = os.path.basename(program)
            trace = os.path.join(work, name + "-run.dwell")
            subprocess.run([dwell, "run", "--stacks", "--shapes", "-o", trace,
                            os.path.abspath(program), *arguments], cwd=work,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            check_trace(dwell, trace, name, readers, work, slack_ns=1)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
