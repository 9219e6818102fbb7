#!/usr/bin/env python3
"""Time and memory of dwell and of HolisticTraceAnalysis for the same questions about one trace.

usage: hta.py DWELL TRACE.json.gz [REPEATS]

Run by a Python that has HolisticTraceAnalysis (pip install HolisticTraceAnalysis) on a quiet
machine. HTA: temporal, idle time and kernel breakdown, communication overlap, launch statistics,
queue length, in one process. dwell: `report --view device`, `kernels` and `streams`, three
processes. The pairs alternate; the medians and the most memory of a process are printed.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

HTA = """
import sys, pandas
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="/")
analysis.get_temporal_breakdown(visualize=False)
analysis.get_idle_time_breakdown(ranks=[0], visualize=False)
analysis.get_gpu_kernel_breakdown(visualize=False)
analysis.get_comm_comp_overlap(visualize=False)
analysis.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)
analysis.get_queue_length_summary(ranks=[0])
analysis.get_queue_length_time_series(ranks=[0])
"""


def measure(*commands):
    """Seconds of all commands, and the most megabytes of one."""
    most, start = 0, time.monotonic()
    for command in commands:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"{command[0]}: {error.decode()[-2000:]}")
        most = max(most, usage.ru_maxrss / 1024)
    return time.monotonic() - start, most


def main():
    dwell, trace = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    results = {"HTA": [], "dwell": []}
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "hta_questions.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(HTA)
        for _ in range(repeats):
            results["HTA"].append(measure([sys.executable, script, trace]))
            results["dwell"].append(measure(*[[dwell, "report", "--view", view, trace]
                                              for view in ("device", "kernels", "streams")]))
    seconds = {who: statistics.median(one[0] for one in found) for who, found in results.items()}
    memory = {who: max(one[1] for one in found) for who, found in results.items()}
    for who in results:
        print(f"{who:6} {seconds[who]:8.3f} s {memory[who]:8.1f} MB")
    ratio = statistics.median(hta[0] / own[0] for hta, own in zip(results["HTA"], results["dwell"]))
    print(f"HTA takes {ratio:.1f} times the time and {memory['HTA'] / memory['dwell']:.1f} times the memory")


main()
