#!/usr/bin/env python3
"""What the collectors of ITT, NVTX and CUDA cost a program on the CPU, and how exact the times of oneDNN by ITT are.

usage: bench/injected_figures.py BUILD [PAIRS]      on a quiet machine; needs `ninja -C BUILD all bench/bench_injected` and oneDNN

1. A program that announces nothing, under `dwell run` with all of them and with none of them: what it loads, and the median
   difference of alternating pairs. It is paid once a process.
2. The ResNet-18 of examples/onednn_plain, which announces each primitive: records times what one costs, by bench_injected.
3. The same program's operators by ITT and the lines that ONEDNN_VERBOSE=1 (profile_exec since 3.0) prints in the same run: names, number, time.
   A task contains the printing of its line, and is longer than the line says; printing_time.c measures for how long the program
   prints. The lines go to a file in memory, so that no other program wakes up for each.
"""
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv[1])
PAIRS = int(sys.argv[2]) if len(sys.argv) > 2 else 31
DWELL = os.path.join(BUILD, "dwell")
PLAIN = os.path.join(BUILD, "examples/onednn_plain/onednn_plain")
NONE = ["--no-itt", "--no-nvtx", "--no-cuda"]


def seconds(*arguments):
    """Of processor time, which other programs disturb less than the time on the clock."""
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([DWELL, "run", "-o", "t.dwell", *arguments, "--", "/bin/true"], check=True, capture_output=True)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime


def silent():
    maps = subprocess.run([DWELL, "run", "-o", "t.dwell", "--", "cat", "/proc/self/maps"], check=True, capture_output=True,
                          text=True).stdout
    found = sorted(set(re.findall(r"libdwell-(?:injected|cuda)\S*|libcupti\S*|libittnotify\S*", maps)))
    print(f"a program that announces nothing loads of them: {', '.join(found) or 'nothing'}")
    differences = []
    for i in range(PAIRS):
        first, second = (([], NONE) if i % 2 else (NONE, []))
        times = {bool(arguments): seconds(*arguments) for arguments in (first, second)}
        differences.append((times[False] - times[True]) * 1e6)
    differences.sort()
    print(f"and takes processor time of {statistics.median(differences):.0f} us longer with all than with none (median of {PAIRS} pairs; half of them "
          f"from {differences[PAIRS // 4]:.0f} to {differences[PAIRS * 3 // 4]:.0f} us)")


def task_ns():
    text = subprocess.run([os.path.join(BUILD, "bench/bench_injected"), ".",
                           os.path.join(BUILD, "probes/injected/libdwell-injected.so"), "31"], check=True, capture_output=True, text=True).stdout
    print(text, end="")
    return float(re.search(r"^ITT task, recorded +([\d.]+)", text, re.M).group(1))


def operators():
    text = subprocess.run([DWELL, "export", "--format", "chrome", "t.dwell"], check=True, capture_output=True, text=True).stdout
    return sorted((event for event in json.loads(text)["traceEvents"] if event["ph"] == "X" and event.get("cat") == "cpu_op"),
                  key=lambda event: event["ts"])


def onednn(cost_ns):
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", "printing_time.so", os.path.join(HERE, "printing_time.c"), "-ldl"], check=True)
    began = time.monotonic()
    with open("/dev/shm/dwell-verbose", "w+", encoding="utf-8") as file:
        said = subprocess.run([DWELL, "run", "-o", "t.dwell", "--", PLAIN, "3"], check=True, stdout=file, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "ONEDNN_VERBOSE": "1", "LD_PRELOAD": os.path.abspath("printing_time.so")}).stderr
        took = time.monotonic() - began
        file.seek(0)
        lines = re.findall(r"^(?:onednn|dnnl)_verbose(?:,[^,]*primitive)?,exec,cpu,(\w+),.*,([\d.e+-]+)$", file.read(), re.M)
    os.remove("/dev/shm/dwell-verbose")
    tasks = operators()
    same = [task["name"] for task in tasks] == [name for name, _ in lines]
    printing = max((float(us) for us in re.findall(r"^printing: ([\d.]+) us", said, re.M)), default=0) / 1e3
    by_itt, by_line = sum(task["dur"] for task in tasks) / 1e3, sum(float(ms) for _, ms in lines)
    print(f"oneDNN's plain ResNet-18: {len(tasks)} operators by ITT, {len(lines)} lines, names {'equal' if same else 'DIFFERENT'}; "
          f"{by_itt:.1f} ms by ITT, {by_line:.1f} ms by lines: {by_itt / by_line - 1:+.2%}; "
          f"{(by_itt - printing) / by_line - 1:+.2%} without the {printing:.1f} ms of printing")
    print(f"its records cost {len(tasks) * cost_ns / 1e3:.0f} us of {took:.2f} s: {len(tasks) * cost_ns / 1e9 / took:.4%}")


with tempfile.TemporaryDirectory(prefix="dwell-figures-") as folder:
    os.chdir(folder)
    silent()
    cost = task_ns()
    for _ in range(3):
        onednn(cost)
    os.chdir("/")
