#!/usr/bin/env python3
"""The work of NVIDIA's devices is recorded by CUPTI: each kind of record of each version, and what goes wrong.

usage: cupti_test.py BUILD PACKAGES PACKAGES-11      last line: N passed, N failed

No GPU is needed: cupti_standin.c takes libcupti's place. It is built with the real headers of CUPTI 11.8, 12.9
and 13.5, which tools/venv cupti and cupti11 install, and cupti_layout.c compares dwell's own declarations with them.
cupti_program.c takes the place of a program and of CUDA's driver.
"""
import csv
import io
import os
import re
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
KINDS = 14
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

    def enabled(self):
        """How many kinds were enabled each time that the stand-in said so."""
        return [int(number) for number in re.findall(r"^standin: (\d+) kinds", self.done.stderr, re.M)]


def test_layouts():
    for version in VERSIONS:
        done = compile_for(version, "-fsyntax-only", os.path.join(SOURCES, "cupti_layout.c"))
        check(f"the structures of CUPTI {version}: {done.stderr[:2000]}", done.returncode == 0)


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
    check(f"{version}: the device's name", "Stand-in GPU" in subprocess.run(
        [DWELL, "report", "--view", "device", "t.dwell"], capture_output=True, text=True, check=True).stdout)
    shape = [event for event in run.events if event["name"] == "in_graph"]
    check(f"{version}: the grid: {shape[:1]}", len(shape) == 6 and shape[0]["args"].get("grid") == [12, 3, 1])
    check(f"{version}: nothing is lost", run.lost() == 0)
    check(f"{version}: afterwards no kind is enabled", run.enabled() == [0])
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


def test_drops():
    run = Run("11.8", "device", "drop")
    dropped = int(re.search(r"standin: (\d+) dropped", run.done.stderr).group(1))
    check(f"what CUPTI dropped is lost: {dropped}, {run.lost()}", dropped > 1000 and run.lost() == dropped)
    report = subprocess.run([DWELL, "report", "t.dwell"], capture_output=True, text=True, check=True).stdout
    check("with its cause", "driver dropped records" in report)
    check("the rest is recorded", 500 < run.kernels("odd") < 1000)


def test_other_tools():
    for version, name in ("11.8", "another tool"), ("12.9", "another tool"), ("13.5", "Kineto"):
        run = Run(version, "device", "mixed", STANDIN_HOLDER="Kineto")
        check(f"{version}: the holder is named", run.said(f"not recorded: {name} has CUPTI"))
        check(f"{version}: the rest is recorded", run.steps() == 2 and not run.kernels("in_graph") and run.enabled() == [0])
    run = Run("13.5", "device", "mixed", STANDIN_HOLDER="Kineto", STANDIN_SEVERAL="1")
    check("13.5: beside another tool", run.kernels("in_graph") == 3 and run.said("beside other tools"))
    check("13.5: nothing stays enabled", run.enabled() == [0] and run.lost() == 0)
    run = Run("12.9", "device", "mixed", "wait 1100", "other tool")
    check("12.9: a tool that comes later gets CUPTI", run.said("incomplete: another tool of the program") and
          run.kernels("in_graph") == 3)
    check("12.9: its kinds stay as they are", run.enabled() == [KINDS + 1])
    run = Run("12.9", "device", CUDA_INJECTION64_PATH="/nowhere/libnsys.so")
    check("another library in CUDA's variable", run.said("names another tool, /nowhere/libnsys.so"))


def test_windows():
    run = Run("13.5", "device", "mixed", "wait 100", "wait 100", "say", "mixed", arguments=["--steps", "0..2"])
    check(f"after the window no kind is enabled: {run.enabled()}", run.enabled() == [0, 0])
    check("and nothing is recorded", run.kernels("in_graph") == 3)
    run = Run("13.5", "device", "mixed", arguments=["--no-cuda"])
    check("--no-cuda", not run.kernels("in_graph") and not run.said("CUPTI"))


def test_ends():
    run = Run("13.5", "device", "mixed", "fork", "mixed")
    check("a child of fork ends", run.done.returncode == 0 and run.kernels("in_graph") == 6 and run.lost() == 0)
    run = Run("13.5", "device", "mixed", "wait 1300", "kill")
    check("a program that is killed", run.done.returncode == 134 and run.kernels("in_graph") == 3)


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
          not re.search(r"libdwell-cuda|cupti", done.stdout))


def main():
    for version, (name, _) in VERSIONS.items():
        os.makedirs(f"{version}/lib64")
        done = compile_for(version, "-shared", "-fPIC", "-pthread", "-o", f"{version}/lib64/{name}",
                           os.path.join(SOURCES, "cupti_standin.c"))
        check(f"the stand-in for CUPTI {version}: {done.stderr[:2000]}", done.returncode == 0)
    subprocess.run(["cc", "-std=gnu11", "-O1", "-I" + os.path.join(ROOT, "include"), "-o", "program",
                    os.path.join(SOURCES, "cupti_program.c"), "-L" + BUILD, "-ldwell", "-Wl,-rpath," + BUILD, "-ldl"],
                   check=True)
    test_layouts()
    for version in VERSIONS:
        test_kinds(version)
    test_order()
    test_drops()
    test_other_tools()
    test_windows()
    test_ends()
    test_libraries()


with tempfile.TemporaryDirectory(prefix="dwell-cupti-") as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
