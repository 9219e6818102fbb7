#!/usr/bin/python3
"""The memory of devices that PyTorch's allocators report: allocated, reserved, by operator.

usage: torch_device_memory_test.py path/to/dwell

No GPU is needed. A library that is named as PyTorch's allocator of CUDA devices, libc10_cuda.so, takes its place: it calls
the real libc10's reportMemoryUsageToProfiler() for each block, as that allocator does. Operators of the script allocate
and free blocks of known sizes. torch.profiler in the same run must still get every report.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import ast
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import forked
import installed

TORCH = installed.need("torch")
LIBRARIES = os.path.join(os.path.dirname(installed.place("torch")), "lib")
DWELL = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# PyTorch 1 has other integers. Device is a class of two bytes, which c10/core/Device.h defines.
ALLOCATOR = """
#include <cstddef>
#include <cstdint>
namespace c10 {
struct Device { Device(int8_t type, int8_t index) : type(type), index(index) {} int8_t type, index; };
void reportMemoryUsageToProfiler(void *, int64_t, SIZE, SIZE, Device);
void reportOutOfMemoryToProfiler(int64_t, SIZE, SIZE, Device);
}
extern "C" void standin_fail(int64_t bytes, size_t allocated, size_t reserved, int index)
{
	c10::reportOutOfMemoryToProfiler(bytes, (SIZE)allocated, (SIZE)reserved, c10::Device(1, index));
}
extern "C" void standin_report(uintptr_t address, int64_t bytes, size_t allocated, size_t reserved, int type, int index)
{
	c10::reportMemoryUsageToProfiler((void *)address, bytes, (SIZE)allocated, (SIZE)reserved, c10::Device(type, index));
}
"""

SCRIPT = """
import ctypes, os, sys, json
for name in LIBRARIES, ALLOCATOR:
    library = ctypes.CDLL(name)
import torch
report = library.standin_report
report.argtypes = [ctypes.c_size_t, ctypes.c_int64, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_int]
sums = {}
def change(address, bytes, reserved, index=0, type=1):
    sums[index] = sums.get(index, 0) + bytes
    report(address, bytes, sums[index], reserved, type, index)
MB = 1 << 20
kept = torch.library.Library("standin", "DEF")
kept.define("grow(Tensor x) -> Tensor")
kept.define("shrink(Tensor x) -> Tensor")
kept.define("outer(Tensor x) -> Tensor")
def grow(x):
    change(0x1000, 3 * MB, 20 * MB)
    change(0x2000, 2 * MB, 20 * MB)
    return x.clone()
def shrink(x):
    change(0x2000, -2 * MB, 20 * MB)
    return x.clone()
def outer(x):
    change(0x3000, 7 * MB, 20 * MB)
    torch.ops.standin.grow(x)
    change(0x4000, MB, 2 * MB, index=1)
    change(0x9000, MB, MB, type=0)    # the CPU's are recorded where they are made
    torch.ops.standin.shrink(x)
    change(0x3000, -7 * MB, 24 * MB)
    return x.clone()
for name, function in dict(grow=grow, shrink=shrink, outer=outer).items():
    kept.impl(name, function, "CPU")
x = torch.ones(4)
"""

RUN = SCRIPT + "torch.ops.standin.outer(x)\n"

# Two layers, of which one grows by 8 MiB less 4 MiB, and the other by 5 MiB.
LAYERS = SCRIPT + """
class Outer(torch.nn.Module):
    def forward(self, x):
        return torch.ops.standin.outer(x)
class Grow(torch.nn.Module):
    def forward(self, x):
        return torch.ops.standin.grow(x)
model = torch.nn.Sequential(Outer(), Grow())
"""
LAYERS_RUN = LAYERS + "model(x)\n"
TORCHPROF = LAYERS + """
import dwell.torchprof as torchprof
with torchprof.Profile(model, profile_memory=True) as prof:
    model(x)
torchprof._has_device = lambda: True  # for the columns only: a run with use_cuda=True needs a GPU
prof.use_cuda = True
print(prof.display(show_events=True))
"""

FAILURE = LAYERS + """
library.standin_fail.argtypes = [ctypes.c_int64, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
class Fails(torch.nn.Module):
    def forward(self, x):
        library.standin_fail(9 * MB, sums[0], 24 * MB, 0)
        raise RuntimeError("CUDA out of memory")
model.append(Fails())
try:
    model(x)
except RuntimeError:
    if ENDS:
        raise
change(0x9000, 30 * MB, 60 * MB)
"""

# The CPU's allocator throws: what the process may have is little more than it has.
HOST_FAILURE = """
import resource, torch
kept = [torch.ones(1 << 20) for _ in range(8)]
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + (64 << 20), resource.RLIM_INFINITY))
try:
    torch.empty(1 << 28)
except RuntimeError:
    if ENDS:
        raise
"""

UNDER_TORCH = SCRIPT + """
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as prof:
    torch.ops.standin.outer(x)
new = hasattr(prof.key_averages()[0], "self_device_memory_usage")
print({row.key: (row.self_device_memory_usage if new else row.self_cuda_memory_usage,
                 row.device_memory_usage if new else row.cuda_memory_usage)
       for row in prof.key_averages() if row.key.startswith("standin::")})
"""

DROP_IN = SCRIPT + """
import dwell
with dwell.profile(activities=[dwell.ProfilerActivity.CPU], profile_memory=True) as prof:
    torch.ops.standin.outer(x)
averages = prof.key_averages()
print({row.key: (row.self_device_memory_usage, row.device_memory_usage, row.self_cuda_memory_usage, row.cuda_memory_usage)
       for row in averages if row.key.startswith("standin::")})
print({event.name: (event.self_device_memory_usage, event.device_memory_usage)
       for event in prof.events() if event.name.startswith("standin::")})
print(averages.total_average().self_device_memory_usage)
print(averages.table(sort_by="self_cuda_memory_usage"))
"""

MB = 1 << 20
# What a call's own blocks and those of all calls in it have added, in bytes.
CALLS = {"standin::outer": (MB, 4 * MB), "standin::grow": (5 * MB, 5 * MB), "standin::shrink": (-2 * MB, -2 * MB)}
servers = {}
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def run(folder, script, *dwell, **environment):
    libraries = [os.path.join(LIBRARIES, "libc10.so"), os.path.join(folder, "libc10_cuda.so")]
    path, replaced = os.path.join(folder, "script.py"), script.replace("LIBRARIES, ALLOCATOR", repr(libraries))
    with open(path, "w", encoding="utf-8") as file:
        file.write(replaced)
    if dwell:
        server = servers.setdefault(folder, forked.Server(*libraries, light=False))
        return server.run(dwell[0], "--cost", "full", "-o", os.path.join(folder, "t.dwell"), script=path,
                          env={**os.environ, **environment})
    return subprocess.run([sys.executable, path], cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})


def view(folder, name, part):
    text = subprocess.run([DWELL, "report", "--view", name, "--format", "json", "t.dwell"], cwd=folder,
                          capture_output=True, text=True, check=True).stdout
    tables = [table for table in json.loads(text)["views"] if table.get("part", "") == part]
    return [dict(zip([column["name"] for column in table["columns"]], row)) if isinstance(row, list) else row
            for table in tables for row in table["rows"]]


def test_recorded(folder):
    done = run(folder, RUN, DWELL)
    check(f"a script whose operators use a device: {done.stderr[-1500:]}", done.returncode == 0)
    reserved = {row["device"]: row for row in view(folder, "memory", "reserved")}
    check(f"reserved: {reserved}", {name: tuple(row[key] for key in (
        "peak_bytes", "reserved_bytes", "unused_bytes", "most_reserved_bytes")) for name, row in reserved.items()} == {
            "cuda:0": (12 * MB, 20 * MB, 8 * MB, 24 * MB), "cuda:1": (MB, 2 * MB, MB, 2 * MB)})
    owners = {(row["device"], row["holder"]): row["peak_bytes"] for row in view(folder, "memory", "peak")
              if row["device"] != "cpu"}
    check(f"owners at the peak: {owners}", owners == {
        ("cuda:0", "standin::outer"): 7 * MB, ("cuda:0", "standin::grow"): 5 * MB, ("cuda:1", "standin::outer"): MB})
    ends = {}
    for row in view(folder, "memory", "categories"):
        ends[row["device"]] = ends.get(row["device"], 0) + row["live_bytes"]
    check(f"at the end: {ends}", ends.get("cuda:0") == 3 * MB and ends.get("cuda:1") == MB)
    calls = {row["name"]: (row["device_bytes"], row["device_total_bytes"]) for row in view(folder, "calls", "")
             if row["name"].startswith("standin::")}
    check(f"by call: {calls}", calls == CALLS)


def test_profilers(folder):
    done = run(folder, UNDER_TORCH, DWELL)
    got = ast.literal_eval((done.stdout.splitlines() or ["0"])[-1])
    # PyTorch 1 gives a report to a call by its time in whole microseconds, which may be that of the next call.
    outer = "standin::outer"
    check(f"torch.profiler gets every report: {got} {done.stderr[-800:]}",
          got[outer][1] == CALLS[outer][1] if TORCH.startswith("1.") else got == CALLS)
    done = run(folder, DROP_IN, PYTHONPATH=os.path.join(ROOT, "python"), LD_LIBRARY_PATH=os.path.dirname(DWELL))
    check(f"dwell.profile: {done.stderr[-1500:]}", done.returncode == 0)
    lines = done.stdout.splitlines() + [""] * 3
    check(f"its columns of devices: {lines[0]}", ast.literal_eval(lines[0] or "0") == {name: figures * 2 for name, figures in CALLS.items()})
    check(f"its events: {lines[1]}", ast.literal_eval(lines[1] or "0") == CALLS)
    check(f"its sum: {lines[2]}", lines[2] == str(4 * MB))
    check(f"its table: {done.stdout}", "Self CUDA Mem" in done.stdout and
          re.search(r"standin::grow .* 5.00 M[Bb] +5.00 M[Bb] +1 ", done.stdout))


def torchprof_rows(text):
    """A dict of the columns by module and operator."""
    lines = [[cell.strip() for cell in line.split(" | ")] for line in text.splitlines() if " | " in line]
    return {line[0].lstrip("│├└─ "): dict(zip(lines[0], line)) for line in lines[1:]} if lines else {}


def test_layers(folder):
    done = run(folder, LAYERS_RUN, DWELL)
    check(f"a model: {done.stderr[-800:]}", done.returncode == 0)
    rows = {row["name"]: (row["device_bytes"], row["device_total_bytes"]) for row in view(folder, "layers", "")}
    check(f"by layer: {rows}", rows.get("0") == (4 * MB, 4 * MB) and rows.get("1") == (5 * MB, 5 * MB) and
          rows.get("Sequential") == (0, 9 * MB))
    wanted = {"standin::outer": ("1.00 Mb", "4.00 Mb"), "standin::shrink": ("-2.00 Mb", "-2.00 Mb")}
    layout = subprocess.run([DWELL, "report", "--layout", "torchprof", "--events", "t.dwell"], cwd=folder,
                            capture_output=True, text=True, check=False).stdout
    done = run(folder, TORCHPROF, PYTHONPATH=os.path.join(ROOT, "python"), LD_LIBRARY_PATH=os.path.dirname(DWELL))
    for what, text in (("the layout torchprof", layout), ("dwell.torchprof", done.stdout)):
        rows = torchprof_rows(text)
        got = {name: (rows.get(name, {}).get("Self CUDA Mem"), rows.get(name, {}).get("CUDA Mem")) for name in wanted}
        check(f"{what}: {got} {text} {done.stderr[-500:]}", got == wanted)


def heads(folder):
    text = subprocess.run([DWELL, "report", "--format", "json", "t.dwell"], cwd=folder, capture_output=True, text=True, check=True).stdout
    return json.loads(text)["views"][0]["heads"]


def test_out_of_memory(folder):
    for ends in False, True:
        done = run(folder, FAILURE.replace("ENDS", str(ends)), DWELL)
        said = heads(folder)
        check(f"ended {ends}: {done.returncode} {done.stderr[-800:]}", (done.returncode != 0) == ends)
        check(f"a device's memory ran out: {said}", re.match(
            r"Memory ran out at .*, in forward of layer Sequential.2: no 9.00 MiB were to be had on cuda:0; of the 24.0 MiB that the allocator had reserved, "
            r"19.0 MiB \(79%\) were free, in pieces that are smaller.( The program went on.)?$", said[1]) and
            said[1].endswith("went on.") != ends)
        check(f"what held it: {said}", said[2] == "Recorded blocks of cuda:0 held 5.00 MiB then: activation 5.00 MiB; most is of "
              "standin::grow 5.00 MiB, and of layer Sequential.1 5.00 MiB.")
        done = run(folder, HOST_FAILURE.replace("ENDS", str(ends)), DWELL)
        said = heads(folder)
        check(f"the host's memory ran out: {said} {done.stderr[-800:]}", (done.returncode != 0) == ends and re.match(
            r"Memory ran out at .*, in aten::empty: no 1.00 GiB were to be had on cpu; of the .* of addresses that the process may have "
            r"\(RLIMIT_AS\), .* were in use.", said[1]) and "held 32.0 MiB then" in said[2])


def test_broken(folder):
    """A PyTorch whose allocator reports in another way: one line says so, the rest is recorded."""
    probe = os.path.join(os.path.dirname(DWELL), "probes/libdwell-python-broken.so")
    if not os.path.exists(probe):
        return
    os.makedirs(os.path.join(folder, "broken/probes"))
    for name in glob.glob(os.path.join(os.path.dirname(DWELL), "libdwell*.so*")) + [DWELL]:
        if os.path.isfile(name):
            shutil.copy(name, os.path.join(folder, "broken"))
    shutil.copy(os.path.join(os.path.dirname(DWELL), "probes/libdwell-attach.so"), os.path.join(folder, "broken/probes"))
    shutil.copy(probe, os.path.join(folder, "broken/probes/libdwell-python.so"))
    done = run(folder, RUN, os.path.join(folder, "broken/dwell"), DWELL_TEST_BREAK="device allocator")
    check(f"one line says what is missing: {done.stderr[-800:]}", done.returncode == 0 and
          done.stderr.count("allocations on devices are not recorded") == 1)
    devices = {row["device"] for row in view(folder, "memory", "categories") if "device" in row}
    check(f"memory of the CPU is there: {devices}", not devices - {"cpu"})


def main():
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "allocator.cc")
        with open(source, "w", encoding="utf-8") as file:
            file.write(ALLOCATOR.replace("SIZE", "int64_t" if TORCH.startswith("1.") else "size_t"))
        subprocess.run(["c++", "-shared", "-fPIC", "-O1", "-Wl,-soname,libc10_cuda.so", "-o",
                        os.path.join(folder, "libc10_cuda.so"), source, "-L" + LIBRARIES, "-lc10"], check=True)
        test_recorded(folder)
        test_profilers(folder)
        test_layers(folder)
        test_out_of_memory(folder)
        test_broken(folder)
    print(f"torch_device_memory_test: PyTorch {TORCH}: {passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
