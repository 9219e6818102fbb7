#!/usr/bin/env python3
"""Real Kineto traces become traces with the same events and values, exactly.

usage: kineto_test.py DWELL [FOLDER]         last line: N passed, N failed

FOLDER has the traces (default: those of tests/data/kineto). Each is read by yyjson, if Python has it, or else by
Python's json, both without floating point. The trace that dwell makes of it is read by
tests/second_reader.py. Compared are, as multisets: ranges of the host by thread with name, start,
duration, sequence number and correlation id; steps; allocations and frees; events of devices with
queue, start, duration, correlation, name or memories, bytes and shape of launch.
"""
import collections
import glob
import gzip
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from decimal import Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = os.path.dirname(HERE), os.path.join(HERE, "../data")
import second_reader  # noqa: E402
import unpacked  # noqa: E402

try:
    import yyjson
except ImportError:
    yyjson = None

HOST = {"cpu_op", "user_annotation", "cuda_runtime", "cuda_driver", "Runtime", "python_function", "overhead"}
DEVICE = {"kernel": 1, "Kernel": 1, "gpu_memcpy": 2, "gpu_memset": 3, "cuda_sync": 4, "gpu_user_annotation": 8}
MEMORIES = ["Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static", "Host"]
SYNCS = ["", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync", "Device Sync"]
counts = {True: 0, False: 0}


def check(condition, what):
    counts[bool(condition)] += 1
    if not condition:
        print(f"FAILED: {what}")


def parse(path):
    with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
        text = file.read()
    if yyjson:
        return yyjson.Document(text, flags=yyjson.ReaderFlags.NUMBERS_AS_RAW).as_obj
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


def ns(value):
    return int(Decimal(value) * 1000)


def number(event, key, default=0):
    value = event.get("args", {}).get(key, default)
    return int(value) if isinstance(value, (int, Decimal)) else default


# ---- what the JSON says --------------------------------------------------------------------------

def name_of(event):
    name, cat = event["name"], event["cat"]
    if cat == "user_annotation":
        if re.match(r"Optimizer\.(step|zero_grad)#", name):
            return "optimizer"
        if name.startswith("enumerate(DataLoader)#"):
            return "DataLoader.__next__"
        if name.strip("# ") in ("forward", "backward", "optimizer"):
            return name.strip("# ")
    if cat == "python_function":
        name = name.removeprefix("nn.Module: ")
        match = re.match(r".+\(\d+\): (.*)$", name, re.S)
        return match[1] if match else name
    return name


def device_value(event, kind):
    """What a record has besides its times: a name with its shape, or memories and bytes."""
    if kind == 1:
        grid = tuple(int(x) for x in event.get("args", {}).get("grid", ()))
        block = tuple(int(x) for x in event.get("args", {}).get("block", ()))
        shape = (grid, block, number(event, "registers per thread"), number(event, "shared memory")) if grid else None
        return event["name"], shape
    if kind in (2, 3):
        return event["name"], number(event, "bytes")
    if kind == 4:
        return (event["args"]["cuda_sync_kind"], max(number(event, "wait_on_cuda_event_id"), 0),
                max(number(event, "wait_on_cuda_event_record_corr_id"), 0))
    return event["name"]


def wanted(events):
    found = {key: collections.Counter() for key in ("ranges", "steps", "memory", "device")}
    for event in events:
        if event.get("name") == "[memory]":
            size = number(event, "Bytes")
            found["memory"][ns(event["ts"]), number(event, "Addr"), max(size, 0)] += 1
        if event.get("ph") != "X":
            continue
        cat, start, length = event.get("cat"), ns(event["ts"]), ns(event["dur"])
        step = re.match(r"ProfilerStep#(\d+)$", event["name"])
        if cat in DEVICE:
            queue = number(event, "stream", int(event["tid"]))
            found["device"][DEVICE[cat], number(event, "device", int(event["pid"])), queue if queue >= 0 else 2**64 - 1,
                            start, length, number(event, "correlation"), device_value(event, DEVICE[cat])] += 1
        elif cat == "user_annotation" and step:
            found["steps"][int(step[1]), start, start + length] += 1
        elif cat in HOST:
            call = number(event, "correlation") if cat not in ("cpu_op", "user_annotation") else 0
            found["ranges"][int(event["pid"]), int(event["tid"]) & 0xFFFFFFFF, name_of(event), start, length, call] += 1
    return found


def sequences(events):
    return collections.Counter(int(e["args"]["Sequence number"]) for e in events
                               if e.get("cat") == "cpu_op" and "Sequence number" in e.get("args", {}) and
                               number(e, "Fwd thread id") == 0)


# ---- what dwell's trace says -----------------------------------------------------------------------

class Dwell:
    """Dictionary and chunks of a trace."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.entries = collections.defaultdict(dict)
        self.steps, self.streams, self.device_chunks = [], collections.defaultdict(list), []
        for at in range(65536, len(self.data), 65536):
            chunk = self.data[at:at + 65536]
            magic, kind, process, stream, place, base = struct.unpack_from("<IIIIQQ", chunk)
            if magic != 0x48435744:
                continue
            if kind == 2:
                for type, id, aux, body in second_reader.entries(chunk):
                    if type == 12:
                        self.steps.append((id, *struct.unpack_from("<QQQ", body)))
                    else:
                        self.entries[type][id] = (aux, body)
            elif kind == 1:
                end, thread = struct.unpack_from("<II", chunk, 40)
                self.streams[process, stream].append((place, chunk, end, base, thread))
            elif kind == 3:
                self.device_chunks.append(chunk)

    def text(self, id):
        length, body = self.entries[3][id]
        return body[:length & 0x7FFFFFFF].decode()

    def op(self, id):
        return self.text(struct.unpack_from("<I", self.entries[4][id][1])[0])

    def thread(self, id):
        process, body = self.entries[2][id]
        return struct.unpack_from("<I", self.entries[1][process][1])[0], struct.unpack_from("<I", body)[0]


def read_streams(trace, found, links):
    for chunks in trace.streams.values():
        stack = []
        for place, chunk, end, base, thread in sorted(chunks, key=lambda c: c[0]):
            pid, tid = trace.thread(thread)
            for ticks, kind, id, payload in second_reader.records(chunk, end, base):
                if kind == 0:
                    stack.append([id, ticks, 0])
                elif kind in (None, 13):
                    depth = struct.unpack("<I", payload)[0] if kind == 13 else 0
                    op, start, call = stack.pop(-1 - depth)
                    found["ranges"][pid, tid, trace.op(op), start, ticks - start, call] += 1
                elif kind == 10:
                    sequence, forward = struct.unpack("<QI", payload)
                    links[sequence] += forward == 0
                elif kind == 15 and id >> 12 == 6:
                    stack[-1][2], = struct.unpack("<I", payload)
                elif kind in (3, 4):
                    values = struct.unpack("<QQ" if kind == 3 else "<Q", payload)
                    found["memory"][ticks, values[0], values[1] if kind == 3 else 0] += 1
        check(not stack, "ranges that never end")


def copy_name(kind, detail):
    source, target = detail & 15, detail >> 4 & 15
    if kind == 3:
        return f"Memset ({MEMORIES[target]})"
    letter = lambda memory: "?HHDADDDH"[memory] if memory != 4 else "A"
    if 0 in (source, target):
        return f"Memcpy Unknown ({MEMORIES[source]} -> {MEMORIES[target]})"
    return f"Memcpy {letter(source)}to{letter(target)} ({MEMORIES[source]} -> {MEMORIES[target]})"


def read_device(trace, found):
    for chunk in trace.device_chunks:
        end, = struct.unpack_from("<I", chunk, 40)
        size, = struct.unpack_from("<I", chunk, 56)
        for at in range(64, end, size):
            start, length, first, second, what, correlation = struct.unpack_from("<QQIIII", chunk, at)
            kind, detail = what >> 28, length >> 48
            other = recorded_by = 0
            if size >= 48:
                _, other, recorded_by = struct.unpack_from("<QII", chunk, at + 32)
            device, queue = trace.entries[17][what & 0x0FFFFFFF]
            device_number, = struct.unpack_from("<I", trace.entries[16][device][1])
            queue_number, = struct.unpack_from("<Q", queue)
            if kind == 1:
                if first in trace.entries[18]:
                    op, shape = trace.entries[18][first]
                    words = struct.unpack_from("<10I", shape)
                    value = trace.op(op), (words[:3], words[3:6], words[6], words[8])
                else:
                    value = trace.op(first), None
            elif kind in (2, 3):
                value = trace.op(other) if other else copy_name(kind, detail), first | second << 32
            elif kind == 4:
                value = trace.op(other) if other else SYNCS[detail], first, recorded_by
            else:
                value = trace.op(first)
            found["device"][kind, device_number, queue_number, start, length & (1 << 48) - 1, correlation, value] += 1


def made(path):
    trace = Dwell(path)
    found = {key: collections.Counter() for key in ("ranges", "steps", "memory", "device")}
    links = collections.Counter()
    read_streams(trace, found, links)
    read_device(trace, found)
    for _, step, start, end in trace.steps:
        found["steps"][step, start, end] += 1
    return found, +links


# ---- all -------------------------------------------------------------------------------------------

def compare(dwell, path, folder):
    name = os.path.basename(path)
    target = os.path.join(folder, "x.dwell")
    done = subprocess.run([dwell, "import", path, "-o", target], capture_output=True, text=True)
    check(done.returncode == 0 and not done.stderr, f"{name}: {done.stderr}")
    if done.returncode:
        return
    document = parse(path)
    events = document["traceEvents"]
    want, (got, links) = wanted(events), made(target)
    for part in want:
        missing, more = want[part] - got[part], got[part] - want[part]
        check(not missing and not more, f"{name}: {part}: {len(missing)} missing, {len(more)} too many, as "
              f"{list(missing)[:2]} and {list(more)[:2]}")
    check(links == sequences(events), f"{name}: sequence numbers of forward operators")
    print(f"{name}: {sum(want['ranges'].values())} ranges, {sum(want['device'].values())} events of devices, "
          f"{sum(want['memory'].values())} of memory, {sum(want['steps'].values())} steps")


def main():
    dwell = sys.argv[1]
    traces = sys.argv[2] if len(sys.argv) > 2 else os.path.join(unpacked.folder(dwell), "kineto")
    paths = sorted(glob.glob(os.path.join(traces, "*.json*")))
    check(paths, f"there are traces in {traces}")
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            compare(dwell, path, folder)
    print(f"read by {'yyjson' if yyjson else 'Python'}")
    print(f"{counts[True]} passed, {counts[False]} failed")
    return counts[False] > 0


if __name__ == "__main__":
    sys.exit(main())
