#!/usr/bin/env python3
"""What programs announce through NVTX is in the trace: each kind of event, and other tools get it too.

usage: nvtx_test.py BUILD PYTHON [TORCH-PYTHON]      last line: N passed, N failed

PYTHON has the packages nvtx and nvidia-nvtx, TORCH-PYTHON has PyTorch and Lightning: dwell.emit_nvtx emits dwell's
own ranges as NVTX. nvtx_program.c is built with the real headers of the second;
nvtx_tool.c is another tool, which NVTX_INJECTION64_PATH names.
"""
import collections
import contextlib
import functools
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

import announced

BUILD, PYTHON = os.path.abspath(sys.argv[1]), sys.argv[2]
SOURCES = os.path.dirname(os.path.abspath(__file__))
Run = functools.partial(announced.Run, os.path.join(BUILD, "dwell"))
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def headers():
    code = "import nvidia, os; print(*(os.path.join(place, name, 'include') for place in nvidia.__path__ " \
           "for name in os.listdir(place)), sep='\\n')"
    found = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    return next(place for place in found if os.path.exists(os.path.join(place, "nvtx3")))


def test_program(program):
    run = Run(program, "nested")
    check("pushed ranges nest", run.count("outer") == run.count("inner ä中") == 10)
    check("a range ends with its own end", all(event["dur"] >= 4000 for event in run.of("outer")) and
          all(2000 <= event["dur"] < 1e6 for event in run.of("inner ä中")))
    check("dwell prints what was recorded", run.said("NVTX: (default) (--no-nvtx)"))
    run = Run(program, "nested", arguments=["--step-on", "outer"])
    check("--step-on names a range", run.steps() == 10 and run.count("outer") == 0)
    run = Run(program, "nested", arguments=["--step-on", "o*t?r"])
    check("--step-on takes a pattern of names of ranges", run.steps() == 10 and run.count("outer") == 0)

    run = Run(program, "across")
    check("a range ends in another thread", len(run.of("starts here", "b")) == len(run.of("starts here", "e")) == 1)
    check("ranges overlap", run.span("ends first")[1] <= run.span("starts here")[1])
    check("a pop without a push", run.count("in thread") == 1 and run.lost() == 0)
    check(f"the thread's name: {run.threads}", any("the ender" in name for name in run.threads))

    run = Run(program, "domains")
    reduce = run.of("ncclAllReduce", "Xb")
    check(f"NCCL's ranges are communication: {reduce[:1]}", len(reduce) == 5 and
          all("communication" in json.dumps(event) for event in reduce))
    check("with their bytes", sum('4096' in json.dumps(event.get("args")) for event in reduce) == 5)
    blue = [event for event in run.of("blue", "Xb") if "#0000ff" in json.dumps(event.get("args"))]
    check(f"category, colour and payload: {blue[:1]}", len(blue) == 6 and
          all('kind \\"seven\\"' in json.dumps(event["args"]) and "2.5" in json.dumps(event["args"]) for event in blue))
    check("a range of a domain that is ended first", len(run.of("blue", "Xb")) == 6)
    check(f"of a mark: {run.of('blue', 'i')[0]}", run.of("blue", "i")[0]["args"].get("args") == {
        "category": 'kind "seven"', "color": "#0000ff", "payload": 2.5})
    check("marks", len(run.of("now", "i")) == len(run.of("now wide", "i")) == len(run.of("blue", "i")) == 1)

    run = Run(program, "payloads")
    found = [event["args"].get("args", {}) for event in run.of("ncclBroadcast", "Xb")]
    expected = [{"communicator": 1 << 63, "message size": 1000 << i, "operation": value, "root": -3, "ratio": 0.5}
                for i, value in enumerate(("Sum", 1, 'Max "2"'))] + [{"communicator": 1 << 63, "message size": 8000}]
    check(f"payloads with a registered schema: {found}", len(found) == 4 and all(
        expected[i].items() <= found[i].items() and not {"note", "payload"} & found[i].keys() for i in range(4)))
    check("a payload that is cut has what fits", "root" not in found[3])
    pushed = [event["args"].get("args", {}) for event in run.of("collective", "Xb")]
    check(f"events of payloads alone: {pushed}", [one.get("message size") for one in pushed] == [1000, 2000, 4000, 8000])
    check("payloads without a schema, and without data", run.count("no payload") == 1 and run.lost() == 0 and
          run.done.returncode == 0)

    run = Run(program, "operators")
    check("numbers are no part of an operator's name", run.count("aten::add") == 20)

    run = Run(program, "wrong")
    check("the program ends well", run.done.returncode == 0)
    check("a name of 100 kB is cut", run.count("x" * 1000) == 1)
    check("a name that is not UTF-8", run.count("bad \ufffd\ufffd\ufffd bytes") == 1)
    check("ranges without a name", run.count("(no name)") == 3)
    check("deep ranges", run.count("deep") == 512 and run.lost() == 488)
    check("and what follows them", run.count("after") == 1)
    check("fork inside a range", run.count("parent") == run.count("child") == run.count("forks") == 1)

    run = Run(program, "many")
    names = collections.Counter(event["name"] for event in run.events if event["ph"] == "X")
    check("80,000 ranges of four threads", sum(names[f"range {i}"] for i in range(50)) == 80000)
    check("and as many that start and end", len(run.of("started", "b")) == len(run.of("started", "e")) == 80000)
    check("none is lost", run.lost() == 0)
    run = Run(program, "nested", arguments=["--no-nvtx"])
    check("--no-nvtx", run.is_empty() and not run.said("NVTX"))


def test_other_tool(program, tool):
    alone = {what: subprocess.run([program, what], capture_output=True, text=True, check=True,
                                  env={**os.environ, "NVTX_INJECTION64_PATH": tool}).stderr
             for what in ("nested", "across", "domains")}
    for what, expected in alone.items():
        run = Run(program, what, NVTX_INJECTION64_PATH=tool)
        got = "".join(line + "\n" for line in run.done.stderr.splitlines() if line.startswith("tool: "))
        check(f"another tool gets what it gets alone: {what}", got == expected and expected)
        check("and dwell records it", run.events)
    run = Run(program, "nested", NVTX_INJECTION64_PATH="/nowhere/tool.so")
    check("a tool that is not there", run.said("/nowhere/tool.so") and run.count("outer") == 10)


PYTHON_PROGRAM = """
import nvtx, threading
domain = nvtx.get_domain("mine")
@nvtx.annotate("decorated", color="blue")
def work():
    with nvtx.annotate("within", domain="mine", category="math", payload=12):
        pass
for i in range(7):
    nvtx.push_range("pushed")
    work()
    nvtx.pop_range()
nvtx.mark("marked", category="math", payload=3)
started = nvtx.start_range("started", payload=4.5)
thread = threading.Thread(target=nvtx.end_range, args=(started,))
thread.start(), thread.join()
"""


def test_python():
    run = Run(PYTHON, "-c", PYTHON_PROGRAM)
    check(f"Python's ranges: {run.done.stderr}", run.done.returncode == 0 and
          [run.count(name) for name in ("pushed", "decorated", "within")] == [7, 7, 7])
    within = json.dumps(run.of("within")[0].get("args"))
    check(f"with category and payload: {within}", '"math"' in within and "12" in within)
    check("a mark, and a range across threads", len(run.of("marked", "i")) == 1 and
          len(run.of("started", "b")) == len(run.of("started", "e")) == 1)
    mark, started = run.of("marked", "i")[0]["args"].get("args", {}), run.of("started", "b")[0]["args"].get("args", {})
    check(f"with category and payload: {mark}, {started}", mark.get("category") == "math" and mark.get("payload") == 3 and
          started.get("payload") == 4.5)
    perfetto = subprocess.run([os.path.join(BUILD, "dwell"), "export", "--format", "perfetto", "t.dwell"], check=True,
                              capture_output=True).stdout
    check("also for Perfetto", b"marked" in perfetto and b"math" in perfetto)
    subprocess.run([os.path.join(BUILD, "dwell"), "export", "--format", "sqlite", "-o", "t.db", "t.dwell"], check=True)
    with contextlib.closing(sqlite3.connect("t.db")) as database:
        rows = [database.execute(f"select arguments from {table} where name = ?", (name,)).fetchall()
                for table, name in (("marks", "marked"), ("async_ranges", "started"))]
    check(f"also for SQLite: {rows}", [json.loads(row[0][0])["payload"] for row in rows] == [3, 4.5])


EMIT = """
import ctypes, torch, dwell
cuda = ctypes.CDLL("./libcudart.so.12")  # stands for a program that has loaded CUDA
net, x = torch.nn.Linear(4, 4), torch.ones(2, 4)
net(x)
with dwell.emit_nvtx() as emits:
    assert emits.active
    with dwell.record_function("mine"):
        for i in range(3):
            net(x)
            with torch.profiler.record_function("torch's"):
                torch.ones(4).sin_()
net(x)
with dwell.emit_nvtx(enabled=False) as emits:
    assert not emits.active
    net(x)
"""
EMIT_LIGHTNING = """
import torch
from dwell.lightning import PyTorchProfiler
profiler = PyTorchProfiler(emit_nvtx=True)
profiler.setup("fit")
with profiler.profile("training_step"):
    torch.ones(4).sin_()
profiler.describe()
torch.ones(4).cos_()
"""


def names_of(text):
    """The names that nvtx_tool printed, and whether each range was popped."""
    lines = [line.removeprefix("tool: ") for line in text.splitlines() if line.startswith("tool: ")]
    pushed = [line.removeprefix("push ").removesuffix(" in its domain") for line in lines if line.startswith("push ")]
    return collections.Counter(pushed), len(pushed) == sum(line.startswith("pop") for line in lines)


def test_emit(python, tool):
    root = os.path.dirname(os.path.dirname(SOURCES))
    environment = {"PYTHONPATH": os.path.join(root, "python"), "NVTX_INJECTION64_PATH": tool,
                   "LD_LIBRARY_PATH": ":".join(os.path.join(BUILD, folder) for folder in
                                               ("", "src/interfaces/compat/lightning", "src/interfaces/compat"))}
    def alone(code):
        return subprocess.run([python, "-c", code], capture_output=True, text=True, check=False,
                              env={**os.environ, **environment})
    done = alone(EMIT)
    names, popped = names_of(done.stderr)
    check(f"the program ends well: {done.stderr[-500:]}", done.returncode == 0)
    check(f"dwell's ranges are emitted: {names}", names["mine"] == 1 and names["torch's"] == 3)
    check("and PyTorch's operators, within the block only", names["aten::linear"] == 3 and names["aten::sin_"] == 3)
    check("each is popped", popped)
    check("CUDA's profiler is on in the block", done.stdout == "cudaProfilerStart\ncudaProfilerStop\n")
    check("nothing is recorded", not [name for name in os.listdir(".") if name.endswith(".dwell") and name != "t.dwell"])
    # Under dwell run the tool gets the same, and the trace has each range once.
    run = Run(python, "-c", EMIT, **environment)
    under, popped = names_of(run.done.stderr)
    check(f"under dwell run the tool gets the same: {run.done.stderr[-300:]}", under == names and popped)
    check(f"and dwell records each once: {run.count('mine')}, {run.count('aten::sin_')}",
          run.count("mine") == 1 and run.count("torch's") == 3 and run.count("aten::sin_") == 3 and
          run.count("aten::linear") == 6)
    done = alone(EMIT_LIGHTNING)
    names, popped = names_of(done.stderr)
    check(f"Lightning's emit_nvtx=True: {names} {done.stderr[-500:]}", popped and
          names["[pl][profile]training_step"] == names["aten::sin_"] == 1 and names["aten::cos_"] == 0)


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    include = headers()
    subprocess.run(["cc", "-O1", "-I", include, "-o", "nvtx_program", os.path.join(SOURCES, "nvtx_program.c"), "-ldl",
                    "-lpthread"], check=True)
    subprocess.run(["cc", "-shared", "-fPIC", "-I", include, "-o", "nvtx_tool.so",
                    os.path.join(SOURCES, "nvtx_tool.c")], check=True)
    test_program("./nvtx_program")
    test_other_tool("./nvtx_program", os.path.abspath("nvtx_tool.so"))
    test_python()
    if len(sys.argv) > 3:
        with open("cudart.c", "w", encoding="utf-8") as file:
            file.write('#include <stdio.h>\nint cudaProfilerStart(void) { puts("cudaProfilerStart"); return 0; }\n'
                       'int cudaProfilerStop(void) { puts("cudaProfilerStop"); return 0; }\n')
        subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-soname,libcudart.so.12", "-o", "libcudart.so.12", "cudart.c"],
                       check=True)
        test_emit(sys.argv[3], os.path.abspath("nvtx_tool.so"))
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
