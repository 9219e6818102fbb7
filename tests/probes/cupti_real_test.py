#!/usr/bin/env python3
"""Real records of an NVIDIA H100 (tests/data/gpu): what dwell makes of CUPTI's buffers is what else is known of them.

usage: cupti_real_test.py BUILD PACKAGES      last line: N passed, N failed

The stand-in for libcupti returns the buffers to dwell's probe, as CUPTI 13.0 did. The same buffers are decoded here too,
with the layouts of NVIDIA's headers, which a program prints; torch.profiler recorded the same script in another run.
"""
import collections
import gzip
import json
import os
import struct
import subprocess
import sys
import tempfile

import announced

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data"))
import unpacked  # noqa: E402

BUILD, PACKAGES = map(os.path.abspath, sys.argv[1:3])
SOURCES = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(SOURCES))
DATA = os.path.join(unpacked.folder(os.path.join(BUILD, "dwell")), "gpu")
COMPILE = ["cc", "-std=gnu11", f"-isystem{PACKAGES}/nvidia/cu13/include"]
KERNEL, COPY, SET, RUNTIME, DRIVER = 10, 1, 2, 5, 4
API = ("API", "cbid threadId processId")
# kind: structure of CUPTI 13.0, members that are compared
LAYOUTS = {KERNEL: ("Kernel10", "start end streamId gridX gridY gridZ name"), COPY: ("Memcpy6", "bytes start end"),
           SET: ("Memset4", "bytes start end"), RUNTIME: API, DRIVER: API, 8: ("Device5", ""), 9: ("Context3", ""),
           17: ("Overhead3", ""), 36: ("CudaEvent2", ""), 37: ("Stream", ""), 38: ("Synchronization2", ""),
           49: ("Memory4", ""), 50: ("MemoryPool3", "")}
LAUNCH, COPY_ASYNC = 211, 41  # of the runtime, cupti_runtime_cbid.h
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def layouts():
    """kind -> member -> (offset, size); the member "-" is the structure."""
    lines = [f'printf("%d - 0 %zu\\n", {kind}, sizeof(CUpti_Activity{name}));' + "".join(
        f'printf("%d {member} %zu %zu\\n", {kind}, offsetof(CUpti_Activity{name}, {member}), '
        f'sizeof(((CUpti_Activity{name} *)0)->{member}));' for member in members.split())
             for kind, (name, members) in LAYOUTS.items()]
    with open("layouts.c", "w", encoding="utf-8") as file:
        file.write("#include <stdio.h>\n#include <stddef.h>\n#include <cupti.h>\nint main(void) {\n" + "\n".join(lines) + "}\n")
    subprocess.run([*COMPILE, "-o", "layouts", "layouts.c"], check=True)
    found = collections.defaultdict(dict)
    for line in subprocess.run(["./layouts"], capture_output=True, text=True, check=True).stdout.splitlines():
        kind, member, offset, size = line.split()
        found[int(kind)][member] = (int(offset), int(size))
    return found


def decode(data):
    """All records of the buffers of a file that probes/cuda/raw.c wrote: kind -> dictionaries."""
    layout, records, at = layouts(), collections.defaultdict(list), 0
    while at + 24 <= len(data):
        magic, version, _, size = struct.unpack_from("<QIIQ", data, at)
        check("a buffer of CUPTI 13.0", (magic, version) == (0x5550544355504954, 130001))
        buffer, at, texts, place = data[at + 24:at + 24 + size], at + 24 + size, {}, 0
        while address := struct.unpack_from("<QQ", data, at)[0]:
            length = struct.unpack_from("<Q", data, at + 8)[0]
            texts[address] = data[at + 16:at + 16 + length].decode()
            at += 16 + length
        at += 16
        while place < size:
            kind = struct.unpack_from("<I", buffer, place)[0]
            record = {member: int.from_bytes(buffer[place + offset:place + offset + length], "little")
                      for member, (offset, length) in layout[kind].items() if member != "-"}
            if "name" in record:
                record["name"] = texts[record["name"]]
            records[kind].append(record)
            place += (layout[kind]["-"][1] + 7) & ~7
    return records


def test_replay(records):
    run = announced.Run(os.path.join(BUILD, "dwell"), "./program", os.path.abspath("lib64/libcupti.so.13"),
                        "load libstdc++.so.6", "replay " + os.path.abspath("raw"), CUDA_HOME=os.getcwd(),
                        CUDA_INJECTION64_PATH=None, STANDIN_VERSION="130001")
    check(f"the program ends, nothing is lost: {run.done.stderr[-500:]}", run.done.returncode == 0 and run.lost() == 0)
    ours = {category: [event for event in run.events if event.get("cat") == category]
            for category in ("kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime")}
    names = list({record["name"] for record in records[KERNEL]})
    plain = dict(zip(names, subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True,
                                           check=True).stdout.splitlines()))
    for what, mine, theirs in (
            ("names", [event["name"] for event in ours["kernel"]], [plain[record["name"]] for record in records[KERNEL]]),
            ("grids", [tuple(event["args"]["grid"]) for event in ours["kernel"]],
             [(record["gridX"], record["gridY"], record["gridZ"]) for record in records[KERNEL]]),
            ("streams", [event["args"]["stream"] for event in ours["kernel"]],
             [record["streamId"] for record in records[KERNEL]]),
            ("bytes of copies", [event["args"]["bytes"] for event in ours["gpu_memcpy"]],
             [record["bytes"] for record in records[COPY]]),
            ("bytes of sets", [event["args"]["bytes"] for event in ours["gpu_memset"]],
             [record["bytes"] for record in records[SET]])):
        mine, theirs = collections.Counter(mine), collections.Counter(theirs)
        check(f"{what}: {len(theirs)} different: {list((mine - theirs).items())[:3]}, {list((theirs - mine).items())[:3]}",
              theirs and mine == theirs)
    sums = [collections.Counter(), collections.Counter()]
    for event in ours["kernel"]:
        sums[0][event["name"]] += event["dur"]
    for record in records[KERNEL]:
        sums[1][plain[record["name"]]] += (record["end"] - record["start"]) / 1e3
    # a trace has ticks of its own clock, whose rate is known by two readings: less exact on a busy machine
    check(f"kernels' time by name: {sums}", all(abs(sums[0][name] - us) < 0.01 * us + 0.2 for name, us in sums[1].items()))
    mine, theirs = sorted(event["ts"] for event in ours["kernel"]), sorted(record["start"] / 1e3 for record in records[KERNEL])
    check("and their begins", all(abs((a - mine[0]) - (b - theirs[0])) < 0.01 * (b - theirs[0]) + 1 for a, b in zip(mine, theirs)))
    calls = collections.Counter(record["cbid"] for record in records[RUNTIME] if record["threadId"] == record["processId"])
    mine = collections.Counter(event["name"] for event in ours["cuda_runtime"])
    check(f"calls of the main thread: {mine}", calls[LAUNCH] and mine["cudaLaunchKernel"] == calls[LAUNCH] and
          mine["cudaMemcpyAsync"] == calls[COPY_ASYNC])
    return collections.Counter(event["name"] for event in ours["kernel"])


def test_kineto(ours):
    with gzip.open(os.path.join(DATA, "kineto.json.gz"), "rt", encoding="utf-8") as file:
        theirs = collections.Counter(event["name"] for event in json.load(file)["traceEvents"] if event.get("cat") == "kernel")
    check(f"torch.profiler's kernels: {set(ours) ^ set(theirs)}", len(theirs) == 79 and set(ours) == set(theirs))
    check(f"as often: {list(((ours - theirs) | (theirs - ours)).items())[:5]}", ours == theirs)


def main():
    with open(os.path.join(DATA, "cupti.raw"), "rb") as file, open("raw", "wb") as raw:
        data = file.read()
        raw.write(data)
    os.mkdir("lib64")
    subprocess.run([*COMPILE, "-shared", "-fPIC", "-pthread", "-DRECORDS_VERSION=130001", "-o", "lib64/libcupti.so.13",
                    os.path.join(SOURCES, "cupti_standin.c")], check=True)
    subprocess.run(["cc", "-std=gnu11", "-O1", "-I" + os.path.join(ROOT, "include"), "-o", "program",
                    os.path.join(SOURCES, "cupti_program.c"), "-L" + BUILD, "-ldwell", "-Xlinker", "-rpath=" + BUILD, "-ldl"],
                   check=True)
    records = decode(data)
    counts = {kind: len(records[kind]) for kind in (KERNEL, COPY, SET, RUNTIME, DRIVER)}
    check(f"records of each kind: {counts}", counts == {KERNEL: 7515, COPY: 501, SET: 354, RUNTIME: 9357, DRIVER: 582})
    test_kineto(test_replay(records))


with tempfile.TemporaryDirectory(prefix="dwell-cupti-") as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
