#!/usr/bin/env python3
"""The torch layout is PyTorch's own table, byte for byte.

usage: torch_table_test.py DWELL MKTRACE         last line: N passed, N failed

Events with known times, shapes, stacks, memory and FLOPs are made a trace by MKTRACE and
FunctionEvents of the PyTorch that runs this; what `dwell report --layout torch` prints is
compared with what EventList.key_averages().table() returns. Where PyTorch is wrong the
events keep away from it: doc/how/from-torch-profiler.md has the list.
"""
import random
import subprocess
import sys
import tempfile

import torch
from torch.autograd import DeviceType
from torch.autograd.profiler_util import EventList, FunctionEvent

DWELL, MKTRACE = sys.argv[1:3]
OLD = torch.__version__.startswith("1.")
LAYOUT = "torch:1.13" if OLD else "torch"
NAMES = ["aten::mul", "aten::add", "aten::empty", "aten::copy_", "aten::convolution", "aten::select",
         "a name of our own", "aten::a_very_long_name_of_an_operator_that_does_not_fit_the_column"]


class Call:
    """An operator's call with what is known of it; times in microseconds."""

    def __init__(self, chance, depth, now, flops):
        self.name = chance.choice(NAMES if depth == 0 else [f"inner{depth}::{n[6:]}" for n in NAMES[:6]])
        self.start = now
        self.shapes = chance.choice([[], [[2, 3]], [[5, 64, 14, 14], [64, 64, 3, 3], []]])
        self.stack = chance.choice([[], ["main@main.py:3"],
                                    ["conv@torch/nn/modules/conv.py:454", "forward@net.py:7", "main@main.py:3"]])
        self.own_bytes, self.children = 0, []
        self.flops = 0
        if flops:
            self.shapes = []  # dwell knows the FLOPs of more operators than PyTorch
        if depth == 0 and chance.random() < 0.2:
            self.name, self.shapes = "aten::mm", [[8, 16], [16, 32]]
            self.flops = 2 * 8 * 16 * 32
        now += chance.choice([1, 7, 130, 2500])
        self.allocations = []
        for _ in range(chance.randrange(3)):
            size = chance.choice([4, 1000, 5000, 3 << 20])
            self.allocations.append((now, size))
            self.own_bytes += size
        if depth < 3:
            for _ in range(chance.randrange(4)):
                child = Call(chance, depth + 1, now, flops)
                self.children.append(child)
                now = child.end + chance.randrange(20)
        self.end = now + chance.choice([1, 40, 999, 1200000 if depth == 0 else 3])

    @property
    def total_bytes(self):
        return self.own_bytes + sum(child.total_bytes for child in self.children)


def write(call, lines, address):
    shapes = ",".join("x".join(map(str, shape)) + (":float32" if shape else ":none") for shape in call.shapes)
    lines.append(f'at {call.start}us begin operator "{call.name}"' + (f" shapes={shapes}" if shapes else ""))
    if call.stack:
        lines.append("stack " + " ".join(call.stack))
    things = [(at, None, size) for at, size in call.allocations] + [(c.start, c, 0) for c in call.children]
    for at, child, size in sorted(things, key=lambda thing: thing[0]):
        if child is None:
            address[0] += 1 << 24
            lines.append(f"at {at}us alloc activation cpu {address[0]} {size}")
        else:
            write(child, lines, address)
    lines.append(f"at {call.end}us end")


def frame(text):
    function, place = text.split("@")
    file, line = place.rsplit(":", 1)
    return f"{file}({line}): {function}"


def collect(call, events, stack, shown):
    # Inner operators have the outermost's stack.
    stack = [frame(text) for text in call.stack] or stack
    shapes = [shape for shape in call.shapes] if "shapes" in shown else None
    event = FunctionEvent(
        len(events), call.name, 1, call.start, call.end, input_shapes=shapes,
        stack=stack if "stacks" in shown else [], scope=0, sequence_nr=-1,
        cpu_memory_usage=call.total_bytes if "memory" in shown else 0,
        device_type=DeviceType.CPU, flops=call.flops if "flops" in shown else None)
    events.append(event)
    for child in call.children:
        collect(child, events, stack, shown)


def make(seed, shown):
    chance = random.Random(seed)
    calls, now = [], 10
    for _ in range(60):
        calls.append(Call(chance, 0, now, "flops" in shown))
        now = calls[-1].end + 5
    lines = ["process 0 pid=1 name=app", "thread 0 tid=1 name=main", "stream 0 thread=0"]
    if "flops" in shown:
        lines.append("meta-json with_flops 1")
    address = [0]
    for call in calls:
        write(call, lines, address)
    if "memory" not in shown:
        lines = [line for line in lines if " alloc " not in line]
    if "stacks" not in shown:
        lines = [line for line in lines if not line.startswith("stack ")]
    events = []
    for call in calls:
        collect(call, events, [], shown)
    events = EventList(events, profile_memory="memory" in shown, with_flops="flops" in shown)
    events._build_tree()
    return lines, events


CASES = [
    ("plain", "", {}, {}, []),
    ("sorted by self", "", {}, dict(sort_by="self_cpu_time_total"), []),
    ("sorted by total, five rows", "", {}, dict(sort_by="cpu_time_total", row_limit=5), []),
    ("sorted by mean", "", {}, dict(sort_by="cpu_time"), []),
    ("sorted by count", "", {}, dict(sort_by="count"), []),
    ("header", "", {}, dict(header="WHAT WE SAW"), ["--header", "WHAT WE SAW"]),
    ("memory", "memory", {}, dict(sort_by="self_cpu_memory_usage"), []),
    ("memory by total", "memory", {}, dict(sort_by="cpu_memory_usage", row_limit=3), []),
    ("shapes", "shapes", dict(group_by_input_shapes=True), dict(sort_by="cpu_time_total"),
     ["--group-by", "shape"]),
    ("shapes and memory", "shapes memory", dict(group_by_input_shapes=True), {}, ["--group-by", "shape"]),
    ("stacks", "stacks", dict(group_by_stack_n=2), dict(sort_by="self_cpu_time_total"),
     ["--group-by", "stack:2"]),
    ("flops", "shapes flops", {}, {}, []),
]
if not OLD:
    CASES += [(f"in {unit}", "", {}, dict(time_unit=unit), ["--time-unit", unit]) for unit in ("s", "ms", "us")]

passed = failed = 0
with tempfile.TemporaryDirectory() as folder:
    for seed in range(3):
        for what, shown, group, table, options in CASES:
            lines, events = make(seed, shown.split())
            trace = f"{folder}/t.dwell"
            subprocess.run([MKTRACE, "-", trace], input="\n".join(lines) + "\n", text=True, check=True)
            if "sort_by" in table:
                options = options + ["--sort", table["sort_by"]]
            if "row_limit" in table:
                options = options + ["--limit", str(table["row_limit"])]
            got = subprocess.run([DWELL, "report", "--layout", LAYOUT, *options, trace], text=True,
                                 capture_output=True, check=False)
            want = events.key_averages(**group).table(**table)
            if got.stdout == want:
                passed += 1
                continue
            failed += 1
            print(f"FAILED {what}, seed {seed}: {got.stderr}")
            got_lines, want_lines = got.stdout.split("\n"), want.split("\n")
            for number, (ours, theirs) in enumerate(zip(got_lines, want_lines)):
                if ours != theirs:
                    print(f"  line {number}\n  dwell {ours!r}\n  torch {theirs!r}")
                    break
            else:
                print(f"  {len(got_lines)} lines, not {len(want_lines)}")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
