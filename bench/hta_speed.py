#!/usr/bin/env python3
"""dwell against HolisticTraceAnalysis: the same figures of one trace, in time and memory.

usage: hta_speed.py DWELL TRACE.json.gz [PAIRS]        under a Python with HolisticTraceAnalysis:
                                                       `tests/probes/exports_test.py --install` makes one

HTA computes its temporal breakdown, idle time breakdown, kernel breakdown, overlap of communication, queue
length and launch statistics; `dwell report` prints the views device, kernels and streams, which have these
figures. Both read the compressed file. They alternate; the figures are medians. HTA's time is counted
from after its imports, dwell's with the start of its process; the memory is the largest resident set.
"""
import os
import statistics
import subprocess
import sys
import time

HTA = """
import contextlib, io, logging, sys, time, warnings
warnings.simplefilter("ignore")
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.CRITICAL)
start = time.monotonic()
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="", include_last_profiler_step=True)
    analysis.get_temporal_breakdown(visualize=False)
    analysis.get_idle_time_breakdown(ranks=[0], visualize=False, show_idle_interval_stats=True)
    analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=100000)
    analysis.get_comm_comp_overlap(visualize=False)
    analysis.get_queue_length_summary(ranks=[0])
    analysis.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)
print(time.monotonic() - start)
"""


def measure(command):
    """Seconds, MiB of the largest resident set, what it printed."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        sys.exit(f"{command[0]} failed")
    return time.monotonic() - start, usage.ru_maxrss / 1024, printed


def main():
    dwell, trace = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    hta_s, hta_mib, dwell_s, dwell_mib = [], [], [], []
    for _ in range(pairs):
        _, mib, printed = measure([sys.executable, "-c", HTA, trace])
        hta_s.append(float(printed.split()[-1]))
        hta_mib.append(mib)
        seconds, mib, _ = measure([dwell, "report", trace, "--view", "device", "--view", "kernels", "--view", "streams",
                                   "--limit", "all"])
        dwell_s.append(seconds)
        dwell_mib.append(mib)
    times, shares = ([a / b for a, b in zip(*pair)] for pair in ((hta_s, dwell_s), (hta_mib, dwell_mib)))
    middle = statistics.median
    print(f"HTA: {middle(hta_s):.2f} s, {middle(hta_mib):.0f} MiB; dwell: {middle(dwell_s):.3f} s, "
          f"{middle(dwell_mib):.0f} MiB; dwell is {middle(times):.1f} times as fast (from {min(times):.1f} to "
          f"{max(times):.1f}), with 1/{middle(shares):.1f} of the memory")


main()
