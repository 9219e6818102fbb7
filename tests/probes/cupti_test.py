#!/usr/bin/env python3
"""The work of NVIDIA's devices is recorded by CUPTI: each kind of record of each version, and what goes wrong.

usage: cupti_test.py BUILD PACKAGES PACKAGES-11 [TORCH-PYTHON]      last line: N passed, N failed

No GPU is needed: cupti_standin.c takes libcupti's place. It is built with the real headers of CUPTI 11.8, 12.9
and 13.5, which tools/venv cupti and cupti11 install, and cupti_layout.c compares dwell's own declarations with them.
cupti_program.c takes the place of a program and of CUDA's driver. With TORCH-PYTHON, PyTorch's operators launch kernels of
known times: what stands in for torch.profiler, torchprof and SINGA prints these times.
"""
import ast
import collections
import csv
import io
import os
import re
import shutil
import sqlite3
import signal
import subprocess
import sys
import tempfile

import announced

BUILD, PACKAGES, PACKAGES_11 = map(os.path.abspath, sys.argv[1:4])
SOURCES = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(SOURCES))
DWELL = os.path.join(BUILD, "dwell")
PIP_13 = os.path.join(PACKAGES, "nvidia/cu13")
# CUDA's version: the name of its libcupti, folders of headers
VERSIONS = {
    "11.8": ("libcupti.so.11.8", [f"{PACKAGES_11}/nvidia/cuda_{part}/include" for part in ("cupti", "runtime")]),
    "12.9": ("libcupti.so.12", [f"{PACKAGES}/nvidia/cuda_{part}/include" for part in ("cupti", "runtime")]),
    "13.5": ("libcupti.so.13", [f"{PIP_13}/include"]),
}
# How a tool of the program finds CUPTI's functions. It is loaded before CUDA starts or later; the loader binds it at the
# first call, or when it loads it ("bound": the pointers are read-only then); or it asks dlsym() ("name").
TOOLS = {"early": ["-Wl,-z,lazy"], "early-bound": ["-Wl,-z,now,-z,relro", "-fno-plt"], "late": ["-Wl,-z,lazy"],
         "late-bound": ["-Wl,-z,now,-z,relro"], "late-name": ["-DBY_NAME=LIBRARY"]}
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def compile_for(version, *arguments):
    # 11.8's and 12.9's headers need crt/, which pip has for 13 alone
    folders = [*VERSIONS[version][1], f"{PIP_13}/include"]
    return subprocess.run(["cc", "-std=gnu11", "-Wall", "-Wextra", *(f"-isystem{folder}" for folder in folders),
                           *arguments], capture_output=True, text=True, check=False)


class Run(announced.Run):
    """The program under dwell with the stand-in of one version; it plays what the arguments name."""

    def __init__(self, version, *plays, arguments=(), **environment):
        name, home = VERSIONS[version][0], os.path.abspath(version)
        super().__init__(DWELL, "./program", os.path.join(home, "lib64", name), *plays, arguments=arguments,
                         **{"CUDA_HOME": home, "CUDA_INJECTION64_PATH": None, **environment})

    def table(self, view):
        """The rows of a view's first table that has names, by name."""
        text = subprocess.run([DWELL, "report", "--view", view, "--format", "csv", "t.dwell"], capture_output=True,
                              text=True, check=False).stdout
        parts = [list(csv.DictReader(io.StringIO(part))) for part in re.split(r"\n\n+", text)]
        return {row["name"]: row for part in parts for row in part if "name" in row}

    def kernels(self, name):
        row = self.table("kernels").get(name)
        return int(row["calls"]) if row else 0

    def memory(self):
        """(name, bytes) of what was done with memory of devices, by time."""
        subprocess.run([DWELL, "export", "--format", "sqlite", "-o", "t.sqlite", "t.dwell"], check=True)
        database = sqlite3.connect("t.sqlite")
        rows = database.execute("select name, size_bytes from device_events where kind = 'memory' order by start_ns, name").fetchall()
        database.close()
        os.remove("t.sqlite")
        return rows

    def enabled(self):
        """How many kinds were enabled each time that the stand-in said so."""
        return [int(number) for number in re.findall(r"^standin: (\d+) kinds", self.done.stderr, re.M)]

    def questions(self):
        """How many records CUPTI made of calls that dwell leaves out."""
        return int(re.search(r"(\d+) questions recorded", self.done.stderr)[1])


def test_layouts():
    for version, records in *((version, "CUPTI_API_VERSION") for version in VERSIONS), ("13.5", "130001"):
        done = compile_for(version, "-fsyntax-only", "-DRECORDS_VERSION=" + records, os.path.join(SOURCES, "cupti_layout.c"))
        check(f"the structures of CUPTI {version}, {records}: {done.stderr[:2000]}", done.returncode == 0)


def test_kinds(version):
    run = Run(version, "device", "mixed", "mixed")
    names = run.table("kernels")
    count = {name: int(row["calls"]) for name, row in names.items()}
    check(f"{version}: kinds of events: {count}", count == {
        "_Z6matmulPKfS0_Pfi": 2, "triton_fused": 2, "in_graph": 6, "Memcpy HtoD (Pinned -> Device)": 2,
        "Memcpy PtoP (Device -> Device)": 2, "Memset (Device)": 2})
    check(f"{version}: kernels belong to the operator that was open", all(
        row["operator"] == "aten::mm" for name, row in names.items() if "HtoD" in name or "_" in name))
    check(f"{version}: the call's name: {run.table('streams')}", "cudaLaunchKernel" in subprocess.run(
        [DWELL, "report", "--view", "streams", "t.dwell"], capture_output=True, text=True, check=True).stdout)
    calls = [event for event in run.events if event.get("cat") in ("cuda_runtime", "cuda_driver")]
    check(f"{version}: calls that come late are in their thread: {calls[:2]}", sorted(
        (event["name"], event["cat"]) for event in calls) == sorted([
            ("cudaLaunchKernel", "cuda_runtime"), ("cuLaunchKernel", "cuda_driver"), ("cudaLaunchKernel", "cuda_runtime"),
            ("cudaMemcpyAsync", "cuda_runtime"), ("cudaStreamSynchronize", "cuda_runtime")] * 2) and all(
                event["tid"] == run.of("aten::mm")[0]["tid"] and 1.9 < event["dur"] < 2.1 for event in calls))
    begins = {event["id"]: event for event in run.events if event["ph"] == "s"}
    check(f"{version}: arrows begin in calls and end in what they launched", len(begins) == 14 and all(
        any(call["ts"] == begin["ts"] and call["tid"] == begin["tid"] for call in calls) for begin in begins.values()) and
        collections.Counter(event["name"] for event in run.events for arrow in run.events if arrow["ph"] == "f" and
                            event["ph"] == "X" and "stream" in event.get("args", {}) and event["ts"] == arrow["ts"] and
                            event["tid"] == arrow["tid"])["in_graph"] == 6)
    perfetto = subprocess.run([DWELL, "export", "--format", "perfetto", "t.dwell"], capture_output=True, check=True).stdout
    check(f"{version}: also for Perfetto", all(name in perfetto for name in (b"calls of the driver", b"cuLaunchKernel")))
    check(f"{version}: the device's name", "Stand-in GPU" in subprocess.run(
        [DWELL, "report", "--view", "device", "t.dwell"], capture_output=True, text=True, check=True).stdout)
    shape = [event for event in run.events if event["name"] == "in_graph"]
    check(f"{version}: the grid: {shape[:1]}", len(shape) == 6 and shape[0]["args"].get("grid") == [12, 3, 1])
    check(f"{version}: memory and pools: {run.memory()}", run.memory() == [
        ("Allocate (Device)", 1 << 20), ("Free (Device)", 1 << 20), ("Create Pool (Device)", 2 << 20),
        ("Destroy Pool (Device)", 4 << 20), ("Trim Pool (Device)", 6 << 20)] * 2)
    check(f"{version}: nothing is lost", run.lost() == 0)
    check(f"{version}: afterwards no kind is enabled", run.enabled() == [0])
    check(f"{version}: CUPTI does not record calls that only ask", run.questions() == (2 if version == "11.8" else 0))
    check(f"{version}: what dwell prints", run.said(VERSIONS[version][0] + ", API"))


def test_order():
    run = Run("13.5", "device", "many")
    check("20,000 kernels in reverse", run.kernels("odd") == run.kernels("even") == 10000 and run.lost() == 0)
    lines = subprocess.run([DWELL, "report", "--view", "kernels", "t.dwell"], capture_output=True, text=True,
                           check=True).stdout
    check("each has its call", "not in the trace" not in lines)
    run = Run("11.8", "device", "mixed", DWELL_TEST_CUPTI_RAW=os.path.abspath("raw"))
    with open("raw", "rb") as file:
        raw = file.read()
    check("raw buffers with their names", raw[:8] == (0x5550544355504954).to_bytes(8, "little") and
          b"in_graph" in raw and b"Stand-in GPU" in raw and run.lost() == 0)
    run = Run("12.9", "device", "wrap")
    check("correlations that begin again", run.kernels("odd") == run.kernels("even") == 25)


def test_stub():
    run = Run("13.5", "device", "stub")
    kernel = run.table("kernels").get("by_stub", {})
    check(f"a launch by the stub of nvcc 13 has its call and its operator: {kernel}", kernel.get("operator") == "aten::mm" and
          [event["name"] for event in run.events if event.get("cat") == "cuda_runtime"] == ["__cudaLaunchKernel"])


def test_graphs(version, **environment):
    """Kernels of a graph belong to the operators in which their nodes were captured, and those of other nodes to the launch."""
    run = Run(version, "device", "node 3", "begin capture", "relu: node 1", "relu: node 2", "end capture", "instantiate", "launch graph",
              "relu: launch graph", **environment)
    found = {name: row["operator"] for name, row in run.table("kernels").items()}
    check(f"{version} {environment}: operators of a graph's kernels: {found}", found["node_1"] == found["node_2"] == "aten::relu")
    totals = {name: (round(float(row["device_total_ns"]), -2), row["device_events"]) for name, row in run.table("operators").items()}
    check(f"{version} {environment}: their device time: {totals}", totals == {"aten::relu": (6000, "6"), "aten::mm": (4000, "2")})
    calls = [event["name"] for event in run.events if event.get("cat") == "cuda_runtime"]
    check(f"{version} {environment}: nodes are no calls: {calls}", calls == ["cudaGraphLaunch"] * 2 and run.lost() == 0)
    check(f"{version} {environment}: nothing stays enabled", run.enabled() == [0])


def test_names():
    """The same for all versions that pip has: tools/measure/cupti_names."""
    done = subprocess.run([sys.executable, os.path.join(SOURCES, "cupti_names.py"), os.path.join(PACKAGES_11, "nvidia"),
                           os.path.join(PACKAGES, "nvidia/cuda_cupti"), PIP_13], capture_output=True, text=True, check=False)
    check(f"names of calls: {done.stdout[-1500:]}{done.stderr[-500:]}", done.returncode == 0)


def test_drops():
    run = Run("11.8", "device", "drop")
    dropped = int(re.search(r"standin: (\d+) dropped", run.done.stderr).group(1))
    check(f"what CUPTI dropped is lost: {dropped}, {run.lost()}", dropped > 1000 and run.lost() == dropped)
    check("with its cause", f"records: CUPTI's buffers were full ({dropped})." in report())
    check("the rest is recorded", 500 < run.kernels("odd") < 1000)
    run = Run("12.9", "device", "wrap", STANDIN_TIMELESS="1")
    check(f"kernels without times are lost: {run.lost()}", run.lost() == 50 and not run.kernels("odd"))
    check("with their cause", "Lost: 50 records: CUPTI gave no times (50)." in report())
    run = Run("12.9", "device", "mixed", "no times")
    check(f"and so are records of all other kinds: {run.lost()}, {run.memory()}", run.lost() == 13 and run.kernels("in_graph") == 3 and
          all(ms["ts"] > 0 for ms in run.events if ms["ph"] == "X"))


def test_threads():
    """Calls have their thread, whatever else is there; or they are lost, and said to be."""
    for version, several, holder in (("130100", 1, None), ("130300", 1, None), ("130500", 1, None), ("130500", 1, "Kineto"), ("130300", None, None)):
        run = Run("13.5", "device", "mixed", STANDIN_VERSION=version, STANDIN_SEVERAL=several and "1", STANDIN_HOLDER=holder)
        kernels = run.table("kernels")
        check(f"{version}, {several}, {holder}: kernels have their operator: {run.lost()} {kernels['in_graph']} {report('device')[-600:]}", run.lost() == 0 and
              kernels["in_graph"]["operator"] == "aten::mm" and report("device").count("2 events: the call that submitted") == 1)
        check(f"{version}, {several}, {holder}: nothing stays enabled", run.enabled() == [0])
    run = Run("13.5", "device", "mixed", STANDIN_VERSION="130300", STANDIN_SEVERAL="1", STANDIN_HOLDER="Kineto")
    check(f"13.3 beside another tool: calls are lost, kernels are not: {run.lost()}", run.lost() == 5 and run.kernels("in_graph") == 3)
    check("with the cause", "calls whose thread CUPTI does not tell while it serves another tool too (5)" in " ".join(report().split()))


def test_other_tools():
    for version, name in ("11.8", "another tool"), ("12.9", "another tool"), ("13.5", "Kineto"):
        run = Run(version, "device", "mixed", STANDIN_HOLDER="Kineto")
        check(f"{version}: the holder is named", run.said(f"not recorded: {name} has CUPTI"))
        check(f"{version}: the rest is recorded", run.steps() == 2 and not run.kernels("in_graph") and run.enabled() == [0])
    run = Run("13.5", "device", "mixed", STANDIN_HOLDER="Kineto", STANDIN_SEVERAL="1")
    check("13.5: beside another tool", run.kernels("in_graph") == 3 and run.said("beside other tools"))
    check("13.5: nothing stays enabled", run.enabled() == [0] and run.lost() == 0)
    run = Run("12.9", "device", "mixed", "wait 2000", "unseen tool")
    check("12.9: a tool that dwell does not see begin is refused", run.said("the unseen tool is refused") and
          run.kernels("in_graph") == 3 and run.enabled() == [0])
    run = Run("12.9", "device", CUDA_INJECTION64_PATH="/nowhere/libnsys.so")
    check("another library in CUDA's variable", run.said("names another tool, /nowhere/libnsys.so"))


def test_handover(version, several="", *ways, **environment):
    """The program starts a tool of its own while dwell records: the tool gets all of its records, dwell those before."""
    home = os.path.abspath(version)
    for way in ways:
        tool = os.path.join(home, f"{way}.so")
        late = () if way.startswith("early") else (f"load {tool}",)
        run = Run(version, "device", "mixed", *late, "tool start", "say", "many", "mixed", "tool stop", "many",
                  STANDIN_SEVERAL=several or None, LD_PRELOAD=None if late else tool, **environment)
        what = f"{version}{' several' * bool(several)}, {way} {environment}"
        check(f"{what}: a tool that begins later has all its kernels: {run.done.stderr[-800:]}",
              run.said("tool: 20005 kernels, 0 of another clock, 0 buffers of others") and not run.said("refuses"))
        check(f"{what}: dwell has the kernels before and no other: {run.kernels('in_graph')}, {run.kernels('odd')}",
              run.kernels("in_graph") == 3 and not run.kernels("odd") and run.lost() == 0)
        check(f"{what}: dwell says so", run.said("CUDA is recorded in part: another tool of the program"))
        check(f"{what}: the tool's kinds alone are enabled meanwhile: {run.enabled()}", run.enabled()[:2] == [4, 0])


def test_host_alone(version):
    """A tool of the program subscribes and registers, but enables no kind, as torch.profiler does for the host."""
    tool = f"load {os.path.abspath(version)}/late.so"
    run = Run(version, "device", "mixed", tool, "tool start host", "mixed", "wait 1200", "mixed")
    check(f"{version}: dwell records on: {run.done.stderr[-800:]}", run.kernels("in_graph") == 9 and run.lost() == 0 and
          not run.said("in part") and run.enabled() == [0])
    run = Run(version, "device", "mixed", tool, "tool start host", "mixed", "tool stop", "mixed", "tool start", "many",
              "tool stop")
    check(f"{version}: until it enables a kind: {run.done.stderr[-800:]}", run.kernels("in_graph") == 9 and
          run.said("tool: 20000 kernels, 0 of another clock, 0 buffers of others") and run.said("in part"))
    run = Run(version, "device", "mixed", tool, "tool start host", "tool finalize", "mixed")
    check(f"{version}: or has CUPTI forget everything", run.kernels("in_graph") == 3 and run.said("in part"))


def test_failures():
    for what in "subscribe", "register":
        run = Run("12.9", "device", "mixed", STANDIN_FAILS=what)
        check(f"a driver without a device ({what}): {run.done.stderr[-500:]}", run.steps() == 2 and run.done.returncode == 0 and
              run.said("does not work here (error 15): the driver may have no device") and not run.said("has CUPTI"))
    run = Run("12.9", "device", "mixed", STANDIN_FAILS="kernels")
    check("without the right to record kernels", run.said("administrators only") and not run.kernels("in_graph") and
          run.steps() == 2 and run.enabled() == [0])
    for version in "9", "150000":
        run = Run("13.5", "device", "mixed", STANDIN_VERSION=version)
        check(f"CUPTI {version}, which nobody knows", run.kernels("in_graph") == 3 and run.said("API " + version))
    run = Run("13.5", "device", "mixed", "reset", "mixed")
    check("a device that is reset", run.kernels("in_graph") == 6 and run.lost() == 0 and run.enabled() == [0])
    run = Run("13.5", "device", "mixed", "fault", "wait 1200", "mixed")
    check(f"a kernel that fails: {run.done.stderr[-500:]}", run.done.returncode == 0 and run.kernels("in_graph") == 6 and
          not run.kernels("faulting") and run.steps() == 5 and run.enabled() == [0])


def test_windows():
    run = Run("13.5", "device", "mixed", "wait 100", "wait 100", "say", "mixed", arguments=["--steps", "0..2"])
    check(f"after the window no kind is enabled: {run.enabled()}", run.enabled() == [0, 0])
    check("and nothing is recorded", run.kernels("in_graph") == 3)
    run = Run("13.5", "device", "mixed", arguments=["--no-cuda"])
    check("--no-cuda", not run.kernels("in_graph") and not run.said("CUPTI"))


LIGHT = "1 2 8 9 10 22"  # KERNEL, MEMCPY, MEMCPY2 (peers), MEMSET; DEVICE, CONTEXT, of which there are a few
# Numbers of calls as CUPTI has them; r: of the runtime, d: of the driver. Of those that the stand-in names, these submit work or wait for it:
SUBMITS_OR_WAITS = "d307 r41 r131 r211 r311 r505"  # cuLaunchKernel, cudaMemcpyAsync, cudaStreamSynchronize, launches
WATCHED = "r315 r319"  # begin and end of a capture of a graph: they call back in all tiers


def test_tiers():
    """Which kinds, calls, callbacks and attributes are on in each tier; what is missing is said, and so are refusals."""
    def listed(version, tier, *plays, **environment):
        run = Run(version, "device", "list", "mixed", *plays, arguments=[f"--cuda={tier}"], **environment)
        return run, re.search(r"standin: kinds ([\d ]*); calls ?(.*); callbacks ?(.*); attributes ?(.*)", run.done.stderr).groups()
    def said(run, what):
        return what in " ".join(run.done.stderr.split())

    gpu_cost = open(os.path.join(ROOT, "tools/measure/gpu_cost"), encoding="utf-8").read()
    check("gpu_cost measures this tier", sorted(map(int, re.search('CHEAP = "kinds=(.*)"', gpu_cost)[1].split(","))) ==
          sorted([*map(int, LIGHT.split()), 4, 5]) and '"attributes=6:8,5:1", "hes=1")' in gpu_cost)
    run, full = listed("13.5", "full")
    check(f"full: {full}", full == ("1 2 4 5 8 9 10 17 22 36 37 38 49 50", "", WATCHED, ""))
    check("and nothing is said to be missing", "Not recorded" not in report() and not said(run, "light"))
    for version, several, hardware, on in (
            ("12.9", None, None, "6:8 5:1 hes:1"), ("13.5", None, None, "6:8 5:1 hes:1"), ("13.5", None, "yes", "6:8 5:1 hes:1"),
            ("13.5", None, "late", "6:8 5:1 hes:1"), ("13.5", "1", None, "6:8 5:1 several-hes:1"), ("13.5", "1", "yes", "6:8 5:1 several-hes:1")):
        what = f"{version} {several} {hardware}"
        for tier, calls, callbacks in (("light", SUBMITS_OR_WAITS, WATCHED),
                                       ("light-callbacks", "", " ".join(sorted(f"{SUBMITS_OR_WAITS} {WATCHED}".split(), key=lambda id: (id[0], int(id[1:])))))):
            run, found = listed(version, tier, STANDIN_SEVERAL=several, STANDIN_HES=hardware)
            check(f"{what} {tier}: {found}", found == (LIGHT, calls, callbacks, on))
            check(f"{what} {tier}: hardware trace, or why not: {run.done.stderr[-700:]}", said(
                run, "hardware trace (--no-cuda)" if hardware == "yes" else "no hardware trace (CUPTI says later: no such device)" if
                hardware else "no hardware trace (CUPTI refuses it to one of several tools)" if several else
                "no hardware trace (CUPTI refuses it, error 27)"))
            check(f"{what} {tier}: kernels and copies have their call and operator: {run.table('kernels')}", all(
                row["operator"] == "aten::mm" for name, row in run.table("kernels").items() if "HtoD" in name or "_" in name) and
                run.kernels("in_graph") == 3 and run.kernels("Memcpy PtoP (Device -> Device)") == run.kernels("Memset (Device)") == 1)
            names = sorted(event["name"] for event in run.events if event.get("cat") in ("cuda_runtime", "cuda_driver"))
            check(f"{what} {tier}: calls: {names}", names == ["cuLaunchKernel", "cudaLaunchKernel", "cudaLaunchKernel", "cudaMemcpyAsync",
                                                             "cudaStreamSynchronize"])
            check(f"{what} {tier}: what is missing is said: {report()[-900:]}", "Not recorded: of devices, by --cuda=light: memory, "
                  "events and waits of streams, calls that neither submit work nor wait for it (--cuda=full)." in " ".join(report().split()))
            check(f"{what} {tier}: nothing is lost or stays on", run.lost() == 0 and run.enabled() == [0] and not run.memory())
    run, found = listed("11.8", "light")
    check(f"a CUPTI that cannot choose calls records all, and dwell leaves the rest out: {found}", found[0] == "1 2 4 5 8 9 10 22" and
          not [event for event in run.events if event["name"] == "cudaGetDevice"] and said(run, "no hardware trace (this CUPTI has none)"))
    run, found = listed("13.5", "light-callbacks", "wait 100", "many", "calls")
    check(f"callbacks that come too fast are lost, with their cause: {run.lost()}", 100000 - 65536 <= run.lost() <= 120000 - 65536 and
          run.kernels("odd") == 10000 and f"calls came too fast ({run.lost()})" in report())
    for tier in "light", "light-callbacks":
        run = Run("13.5", "device", "mixed", f"load {os.path.abspath('13.5')}/late.so", "tool start host", "list", "mixed",
                  arguments=[f"--cuda={tier}"])
        check(f"{tier}: a tool of the program takes the callbacks, and calls are recorded on: {run.done.stderr[-900:]}",
              f"calls {SUBMITS_OR_WAITS};" in run.done.stderr and run.kernels("in_graph") == 6 and run.lost() == 0 and
              run.table("kernels")["in_graph"]["operator"] == "aten::mm")


def test_energy():
    """The energy of devices is read from NVML if --counters asks for it; what cannot be read is said."""
    os.makedirs("nvml", exist_ok=True)
    done = subprocess.run(["cc", "-std=gnu11", "-shared", "-fPIC", "-o", "nvml/libnvidia-ml.so.1", os.path.join(SOURCES, "nvml_standin.c")],
                          capture_output=True, text=True, check=False)
    check(f"the stand-in for NVML: {done.stderr}", done.returncode == 0)
    plays = ("device", "mixed", "wait 3500")
    run = Run("13.5", *plays, arguments=["--counters", "--sample=off"], LD_LIBRARY_PATH=os.path.abspath("nvml"))
    samples = [(event["ts"], *event["args"].values()) for event in run.events if event["ph"] == "C" and event["name"] == "cuda:0 energy"]
    check(f"about a reading a second, of 250 W: {samples}", 2 <= len(samples) <= 4 and
          abs((samples[-1][1] - samples[0][1]) / (samples[-1][0] - samples[0][0]) * 1e6 - 250) < 10)
    check("a short run has no energy of a step", "Energy: not known for a step" in report("device"))
    run = Run("13.5", *plays, arguments=["--counters", "--sample=off"], LD_LIBRARY_PATH=os.path.abspath("nvml"), STANDIN_ENERGY="none")
    check(f"a device that does not count: {report()[-500:]}", "the energy of devices: a device does not count it (error 3)" in " ".join(report().split()))
    run = Run("13.5", *plays, arguments=["--counters", "--sample=off"])
    check(f"without NVML: {report()[-500:]}", os.path.exists("/proc/driver/nvidia/version") or
          "the energy of devices: libnvidia-ml.so.1 was not found" in " ".join(report().split()))
    run = Run("13.5", "device", "mixed", "wait 1200", LD_LIBRARY_PATH=os.path.abspath("nvml"))
    check("nobody asked for it", not [event for event in run.events if event["ph"] == "C"] and "Energy" not in report("device"))


def test_cost():
    """tools/measure/gpu_cost measures every condition of its list, or says why not, without a device."""
    done = subprocess.run(["cc", "-std=gnu11", "-shared", "-fPIC", "-o", "libcuda.so.1", os.path.join(SOURCES, "cuda_standin.c")],
                          capture_output=True, text=True, check=False)
    check(f"the stand-in for CUDA's driver: {done.stderr}", done.returncode == 0)
    def cost(*options, **environment):
        return subprocess.run([os.path.join(ROOT, "tools/measure/gpu_cost"), "--cuda", os.path.abspath("libcuda.so.1"), "--cupti",
                               os.path.abspath("13.5/lib64/libcupti.so.13"), "--launches", "40", *options], capture_output=True,
                              text=True, check=False, env={**os.environ, **environment})
    done = cost("--tracefs", "/nowhere", "--build", "/nowhere", "--nvcc", "")
    failures = [line for line in done.stdout.splitlines() if "failed" in line]
    check(f"the cost of a launch: {failures}{done.stdout[-2000:]}{done.stderr[-500:]}", done.returncode == 0 and not failures and
          re.search(r"^48 rows in", done.stdout, re.M) and
          re.search(r"full \S+ us a launch; light \S+ us a launch; light-callbacks \S+ us a launch - the cheapest here: (full|light)", done.stdout))
    skipped = re.findall("skipped: (.*)", done.stdout)
    check(f"what it lacks means for: {skipped}", len(skipped) == 3 and "/nowhere has no events/syscalls" in skipped[0] and
          skipped[1:] == ["no build of dwell in /nowhere", "no nvcc"])
    refused = [line.split("refused: ")[1] for line in done.stdout.splitlines() if "refused" in line]
    check(f"what this CUPTI lacks: {refused}", set(refused) == {"cuptiActivityEnableHWTrace (27)", "cuptiActivitySetAttribute (1), cuptiActivityEnableHWTrace (27)"})
    test_cost_means(cost)
    done = subprocess.run([os.path.join(ROOT, "tools/measure/gpu_cost"), "--cuda", "/nowhere"], capture_output=True, text=True, check=False)
    check(f"without a device nothing is measured: {done.stdout}", done.returncode == 77 and "no device" in done.stdout)


def test_cost_means(cost):
    """The questions of tools/measure/gpu_cost that need more, with what stands in for that."""
    instance = os.path.abspath("tracing/instances/dwell_gpu_cost")
    for folder in ("tracing/events/syscalls", f"{instance}/events/syscalls", f"{instance}/events/sched/sched_waking"):
        os.makedirs(folder)
    for file in ("trace", "tracing_on", "set_event_pid"):
        open(os.path.join(instance, file), "w", encoding="utf-8").close()
    os.symlink("trace", os.path.join(instance, "trace_marker"))
    done = cost("--only", "calls of the kernel", "--tracefs", os.path.abspath("tracing"), STANDIN_TRACE=os.path.join(instance, "trace"))
    check(f"calls of the kernel: {done.stdout}{done.stderr}", "3 rows in" in done.stdout and
          done.stdout.count("a launch: plain sys_futex 1.00, wakes 1.00; with records sys_futex 1.00, wakes 1.00\n") == 3)
    with open("nvcc", "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec cc -std=gnu11 -shared -fPIC -o "$6" {os.path.join(SOURCES, "cuda_standin.c")}\n')
    os.chmod("nvcc", 0o755)
    done = cost("--only", "by which function", "--nvcc", os.path.abspath("nvcc"))
    check(f"functions that launch: {done.stdout}{done.stderr}", "3 rows in" in done.stdout)
    if shutil.which("nvcc"):
        done = subprocess.run(["nvcc", "-c", "-o", "entry.o", os.path.join(ROOT, "bench/cupti_entry.cu")], capture_output=True, text=True, check=False)
        names = subprocess.run(["nm", "-u", "entry.o"], capture_output=True, text=True, check=False).stdout.split()
        check(f"one launches as PyTorch: {done.stderr}{names}", "cudaLaunchKernel" in names)
    if len(sys.argv) > 4:
        done = cost("--only", "in PyTorch", "--python", sys.argv[4], "--build", BUILD, GPU_WORK_DEVICE="cpu")
        check(f"in PyTorch: {done.stdout}{done.stderr}", "3 rows in" in done.stdout)


def report(view="overview"):
    return subprocess.run([DWELL, "report", "--view", view, "t.dwell"], capture_output=True, text=True, check=True).stdout


def test_bursts():
    """What recording devices costs is bounded: most of the time nothing is recorded, and what is recorded is whole."""
    found = {}
    for way, arguments in ("whole", ("--cost", "full", "--sample=off")), ("bursts", ("--cost", "5%", "--sample=off")):
        run = Run("13.5", "device", "train 1500" if way == "whole" else "train 6000 4000", arguments=arguments)
        steps, kernels, text = int(re.search(r"^steps (\d+)", run.done.stdout, re.M)[1]), run.kernels("timed"), report("device")
        division = re.search(r"busy ([\d.]+)% of ([\d,]+) steps", text)
        found[way] = float(division[1]), int(division[2].replace(",", ""))
        if way == "whole":
            check(f"every kernel of {steps} steps: {kernels}", kernels == 100 * steps and found[way][1] == steps + 1)
            check("and no word of bursts", "bursts" not in text + report())
        else:
            # How many depends on what recording costs on this machine.
            check(f"kernels of some of {steps} steps: {kernels}", 0 < kernels < 100 * steps and 0 < found[way][1] < steps)
            said = re.search(r"The work of devices was recorded in ([\d.]+)% of the time, in bursts", report())
            check(f"the first screen says so: {report()[:600]}", said and
                  abs(float(said[1]) / 100 - kernels / 100 / steps) < 0.1)
            check("as views of devices do", all("in bursts" in report(view) for view in ("device", "kernels", "streams")))
            check("a kernel has its operator", all(row["operator"] == "aten::mm" for row in run.table("kernels").values()))
            check("memory is recorded all the time", run.lost() == 0 and run.enabled() == [0])
    check(f"the device is as busy by its bursts: {found}", 0.7 < found["bursts"][0] / found["whole"][0] < 1.6)


def test_stuck():
    run = Run("13.5", "device", "mixed", "stuck", "mixed")
    check("one number for many calls is said", run.said("CUPTI gave all calls of a thread one number") and run.kernels("stuck") == 40)
    check(f"and their work is joined with none of them: {run.done.stderr[-300:]}",
          int(re.search(r"(\d+) events: the call that submitted", report("device"))[1]) > 25)


def test_ends():
    run = Run("13.5", "device", "mixed", "fork", "mixed")
    check("a child of fork ends", run.done.returncode == 0 and run.kernels("in_graph") == 6 and run.lost() == 0)
    run = Run("13.5", "device", "mixed", "wait 1300", "kill")
    check("a program that is killed", run.done.returncode == -signal.SIGABRT and run.kernels("in_graph") == 3)


def test_real_libraries():
    """The loader of this system and the libraries of NVIDIA: CUPTI's functions are replaced for everybody."""
    subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-I" + os.path.join(ROOT, "include"), "-o", "redirect",
                    os.path.join(SOURCES, "cupti_redirect.c"), os.path.join(ROOT, "probes/cuda/redirect.c"), "-ldl"], check=True)
    for path in (f"{PACKAGES_11}/nvidia/cuda_cupti/lib/libcupti.so.11.8", f"{PACKAGES}/nvidia/cuda_cupti/lib/libcupti.so.12",
                 f"{PIP_13}/lib/libcupti.so.13"):
        done = subprocess.run(["./redirect", path, "cuptiSubscribe", "cuptiActivityRegisterCallbacks", "cuptiActivityEnable",
                               "cuptiActivityDisable", "cuptiActivityRegisterTimestampCallback", "cuptiFinalize"],
                              capture_output=True, text=True, check=False)
        check(f"functions of {path} are replaced: {done.stdout}", done.returncode == 0 and not done.stdout)


def test_libraries():
    os.makedirs("lacking/lib64", exist_ok=True)
    subprocess.run(["cc", "-shared", "-o", "lacking/lib64/libcupti.so.13", "-xc", os.devnull], check=True)
    run = Run("13.5", "wait 1", CUDA_HOME=os.path.abspath("lacking"))
    check("a library without CUPTI's functions", run.said("lacks cupti") and run.steps() == 1)
    run = Run("13.5", "wait 1", CUDA_HOME=PIP_13)
    check("NVIDIA's own CUPTI without a driver", run.said("does not work with this driver") and run.steps() == 1)
    if not os.path.exists("/proc/driver/nvidia/version"):
        runtime = os.path.join(PIP_13, "lib/libcudart.so.13")
        run = Run("13.5", "load " + runtime, "wait 1", CUDA_HOME=os.path.abspath("lacking"), PLAYS_NO_DRIVER="1")
        check("CUDA without a driver is said once", len(run.said("no NVIDIA driver")) == 1 and run.steps() == 2)
        run = Run("13.5", "load " + runtime, arguments=["--no-cuda"], PLAYS_NO_DRIVER="1")
        check("and not if it was not asked for", not run.said("NVIDIA"))
    done = subprocess.run([DWELL, "run", "-o", "t.dwell", "--", "cat", "/proc/self/maps"], capture_output=True,
                          text=True, check=True)
    check("a program without CUDA loads nothing of it", "libc.so" in done.stdout and
          not re.search(r"libdwell-cuda|libcupti", done.stdout))


# Without `dwell run`: the script asks for CUDA, and its kernels last as long as it says.
PYTHON_PROGRAM = """
import ctypes, warnings
import dwell
from dwell import ProfilerActivity, profile, record_function, schedule
warnings.simplefilter("error")
play = None
def run(name, *lengths):
    global play
    if play is None:  # the probe has loaded it
        play = ctypes.CDLL(LIBRARY).standin_play
        play(b"device")
    with record_function(name):
        for us in lengths:
            play(b"kernel %d" % us)
def sums(prof):
    return {row.key: (row.count, row.cuda_time_total, row.self_cuda_time_total, row.device_time, row.use_device)
            for row in prof.key_averages()}
both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
with profile(activities=both, with_stack=True, acc_events=True) as prof:
    with record_function("outer"):
        run("a", 100)
        run("b", 30, 20)
    run("a", 7)
print("sums", sums(prof))
total = prof.key_averages().total_average()
print("total", total.count, total.self_cuda_time_total)
print(prof.key_averages().table(sort_by="self_cuda_time_total"))
run("between", 1000)
cycles = []
with profile(activities=both, schedule=schedule(wait=1, warmup=1, active=2),
             on_trace_ready=lambda prof: cycles.append(sums(prof))) as prof:
    for i in range(8):
        run("step", 10 + i)
        prof.step()
print("cycles", [cycle["step"][:2] for cycle in cycles])
with profile(activities=[ProfilerActivity.CPU]) as prof:
    run("host", 5)
print("host", sums(prof)["host"])
from dwell.singa import device
dev = device.create_cuda_gpu()
dev.SetVerbosity(1)
print("attached", device.native.devices.lacks)
"""


# The operators of a model launch kernels of 40 and 300 us.
TORCH_PROGRAM = """
import ctypes, torch
from dwell import ProfilerActivity, profile, torchprof
from dwell.singa import device
torch.cuda.is_available = lambda: True  # the stand-in's
play = None
torch.library.define("standin::work", "(Tensor x, int us) -> Tensor")
@torch.library.impl("standin::work", "CPU")
def work(x, us):
    global play
    if play is None:
        play = ctypes.CDLL(LIBRARY).standin_play
        play(b"device")
    play(b"kernel %d" % us)
    return x.clone()
class Part(torch.nn.Module):
    def __init__(self, us):
        super().__init__()
        self.us, self.linear = us, torch.nn.Linear(4, 4)
    def forward(self, x):
        return self.linear(torch.ops.standin.work(x.detach(), self.us))
net, x = torch.nn.Sequential(Part(40), Part(300)), torch.ones(2, 4)
def forward_twice():
    for i in range(2):
        net(x)
with torchprof.Profile(net, use_cuda=True, paths=[("Sequential", "0"), ("Sequential", "1")]) as prof:
    forward_twice()
print(prof)
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True) as prof:
    forward_twice()
print(prof.key_averages().table(sort_by="cuda_time_total"))
prof.export_stacks("stacks", "self_cuda_time_total")
print(open("stacks").read())
dev = device.create_cuda_gpu()
dev.SetSkipIteration(1)
dev.SetVerbosity(2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(4):
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
dev.PrintTimeProfiling()
"""


def run_python(python, program, home="13.5", *options):
    """A script without `dwell run`."""
    environment = {"PYTHONPATH": os.path.join(ROOT, "python"), "CUDA_HOME": os.path.abspath(home),
                   "LD_LIBRARY_PATH": ":".join(os.path.join(BUILD, folder) for folder in ("", "src/interfaces/compat/singa", "src/interfaces/compat"))}
    program = program.replace("LIBRARY", repr(os.path.abspath(os.path.join("13.5/lib64", VERSIONS["13.5"][0]))))
    return subprocess.run([python, *options, "-c", program], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})


def test_torch(python):
    done = run_python(python, TORCH_PROGRAM)
    check(f"a PyTorch script's own profiles: {done.stderr[-1500:]}", done.returncode == 0)

    def near(pattern, expected, unit=1.0):
        found = re.search(pattern, done.stdout, re.M)
        check(f"{pattern}: {expected}: {done.stdout if not found else found.groups()}",
              found and abs(float(found.group(1)) * unit - expected) < 0.02)
    near(r"── 0 .*\| ([\d.]+)us +\| 2 ", 80)    # torchprof: the layers' CUDA total
    near(r"── 1 .*\| ([\d.]+)us +\| 2 ", 600)
    near(r"^ +standin::work .* ([\d.]+)us +100.00% ", 680)  # torch.profiler: Self CUDA
    near(r"^Self CUDA time total: ([\d.]+)us", 680)
    check("stacks with the device's time", re.search(r";_?\S*\(\d+\):_forward_twice;.*Part.forward;\S* (679|680)$", done.stdout, re.M))
    near(r"^OP_ID1. standin::work : ([\d.e-]+) sec", 40, 1e6)  # SINGA: an operation's time is the device's
    near(r"^OP_ID4. standin::work : ([\d.e-]+) sec", 300, 1e6)


def test_python():
    done = run_python(sys.executable, PYTHON_PROGRAM)
    check(f"a script's own profile: {done.stderr[-1500:]}", done.returncode == 0)
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    sums = ast.literal_eval(said.get("sums", "{}"))
    # The rate of a clock is known by two readings, which are less exact on a busy machine.
    rounded = {key: (row[0], *(round(value * 2) / 2 for value in row[1:4]), row[4]) for key, row in sums.items()}
    check(f"device times of ranges are the kernels': {sums}", rounded == {
        "outer": (1, 150.0, 0.0, 150.0, "cuda"), "a": (2, 107.0, 107.0, 53.5, "cuda"), "b": (1, 50.0, 50.0, 50.0, "cuda")})
    check(f"and their total: {said.get('total')}", re.fullmatch(r"4 15(7\.0|6\.9)\d*", said.get("total", "")))
    check(f"the table has the device's columns: {done.stdout[:3000]}", "Self CUDA %" in done.stdout and
          re.search(r"^ +timed .* 15[67].\d+us +100.00%", done.stdout, re.M) and
          re.search("Self CUDA time total: 15[67].", done.stdout))
    cycles = [(count, round(us, 1)) for count, us in ast.literal_eval(said.get("cycles", "[]"))]
    check(f"a schedule's cycles have their own kernels: {cycles}", cycles == [(2, 25.0), (2, 33.0)])
    check(f"a profile of the host has no device: {said.get('host')}", said.get("host", "").startswith("(1, 0.0, 0.0, 0.0,"))
    check(f"SINGA's devices: {said.get('attached')}", said.get("attached") == "None")
    lacking = run_python(sys.executable, "from dwell import profile, ProfilerActivity\n"
                         "profile(activities=[ProfilerActivity.CUDA])", "lacking").stderr
    check(f"one warning where CUDA cannot be recorded: {lacking}", lacking.count("Warning: CUDA is asked for") == 1 and
          "lacks cupti" in lacking)


def main():
    for version, (name, _) in VERSIONS.items():
        os.makedirs(f"{version}/lib64")
        done = compile_for(version, "-shared", "-fPIC", "-pthread", "-o", f"{version}/lib64/{name}",
                           os.path.join(SOURCES, "cupti_standin.c"))
        check(f"the stand-in for CUPTI {version}: {done.stderr[:2000]}", done.returncode == 0)
        for way, options in TOOLS.items():
            options = [option.replace("LIBRARY", f'"{os.path.abspath(version)}/lib64/{name}"') for option in options]
            done = compile_for(version, "-shared", "-fPIC", "-o", f"{version}/{way}.so", os.path.join(SOURCES, "cupti_tool.c"),
                               *options, *([] if way.endswith("name") else [f"{version}/lib64/{name}"]))
            check(f"a tool for CUPTI {version}: {done.stderr[:2000]}", done.returncode == 0)
    subprocess.run(["cc", "-std=gnu11", "-O1", "-I" + os.path.join(ROOT, "include"), "-o", "program",
                    os.path.join(SOURCES, "cupti_program.c"), "-L" + BUILD, "-ldwell", "-Xlinker", "-rpath=" + BUILD, "-ldl"],
                   check=True)
    test_layouts()
    for version in VERSIONS:
        test_kinds(version)
    test_order()
    test_stub()
    for version in VERSIONS:
        test_graphs(version)
    test_graphs("13.5", STANDIN_SEVERAL="1")
    test_names()
    test_drops()
    test_threads()
    test_other_tools()
    for version in VERSIONS:
        test_handover(version, "", *TOOLS)
        test_host_alone(version)
    test_handover("13.5", "1", "early-bound", "late")
    test_handover("13.5", "1", "early-bound", "late", STANDIN_VERSION="130300")
    test_failures()
    test_windows()
    test_bursts()
    test_stuck()
    test_ends()
    test_cost()
    test_tiers()
    test_energy()
    test_real_libraries()
    test_libraries()
    test_python()
    if len(sys.argv) > 4:
        test_torch(sys.argv[4])


with tempfile.TemporaryDirectory(prefix="dwell-cupti-") as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
