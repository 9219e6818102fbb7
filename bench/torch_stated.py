#!/usr/bin/python3
"""What recording costs a step of PyTorch, measured, and what the trace states that it costs.

usage: torch_stated.py BUILD [rounds]

The step is of a thousand tiny operators, one thread: recording costs it more than any real one.
Each round runs it in three processes, alone, with empty callbacks in PyTorch and under `dwell
run`, in turns; a process reports the 5th percentile of its steps' CPU time. Printed: the medians,
their ratios to the step alone, and the cost that follows from the trace: operators of a step
times torch.callback_ns and layers of a step times torch.hook_ns, which must lie between half of
what was measured and twice as much.

Exit status 0; 1: the stated cost is not within these bounds; 77: no PyTorch here.
"""
import csv
import io
import os
import re
import statistics
import subprocess
import sys
import tempfile

WARM, STEPS = 50, 300


def measure(way, build):
    import ctypes
    import time
    import torch
    torch.manual_seed(0)
    torch.set_num_threads(1)
    if way == "empty":
        empty = ctypes.CDLL(os.path.join(build, "bench", "libtorch_empty.so"))
        library = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
        if empty.empty_on(os.path.realpath(library).encode(), 0):
            sys.exit("no RecordFunction in " + library)
    nn = torch.nn
    net = nn.Sequential(*[nn.Sequential(nn.Linear(32, 32), nn.ReLU()) for _ in range(20)])
    optimizer, x, seconds = torch.optim.SGD(net.parameters(), 1e-4), torch.randn(8, 32), []
    for _ in range(WARM + STEPS):
        start = time.thread_time()
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
        seconds.append(time.thread_time() - start)
    seconds = sorted(seconds[WARM:])
    print("RESULT", seconds[STEPS // 20] * 1e6)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(re.search(r"RESULT (\S+)", done.stdout).group(1))


def calls(dwell, trace, view):
    """In a step that counts."""
    text = subprocess.run([dwell, "report", "--view", view, "--steps", f"{WARM}..{WARM + STEPS - 1}", "--limit", "all",
                           "--format", "csv", trace], capture_output=True, text=True, check=True).stdout
    return sum(int(row["calls"]) for row in csv.DictReader(io.StringIO(text)) if row["calls"].isdigit()) / STEPS


def stated(dwell, trace, key):
    text = subprocess.run([dwell, "info", trace], capture_output=True, text=True, check=True).stdout
    return float(re.search(re.escape(key) + r" = (\S+)", text).group(1))


def main():
    try:
        import torch
    except ImportError as error:
        print(f"skip torch_stated: {error}")
        return 77
    build, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    dwell, me = os.path.join(build, "dwell"), [sys.executable, os.path.abspath(__file__), "--measure"]
    found, costs = {"alone": [], "empty": [], "dwell": []}, []
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "t.dwell")
        for turn in range(rounds):
            for way in list(found) if turn % 2 else list(found)[::-1]:
                prefix = [dwell, "run", "--cost", "full", "-o", trace, "--"] if way == "dwell" else []
                found[way].append(run(*prefix, *me, way, build))
            operators, layers = calls(dwell, trace, "operators"), calls(dwell, trace, "layers")
            costs.append((operators * stated(dwell, trace, "torch.callback_ns") +
                          layers * stated(dwell, trace, "torch.hook_ns")) / 1e3)
    # What a busy machine adds to one it adds to all, but not at once: the fastest of each.
    times = {way: min(values) for way, values in found.items()}
    added, cost = times["dwell"] - times["alone"], statistics.median(costs)
    print(f"PyTorch {torch.__version__}, {operators:.0f} operators and {layers:.0f} layers a step, {rounds} rounds")
    for way, us in times.items():
        print(f"{way:8} {us:8.1f} us a step, {us / times['alone']:.3f} times the step alone")
    print(f"recording adds {added:.1f} us a step; the trace states {cost:.1f} us, {cost / added:.2f} times as much")
    return 0 if .5 <= cost / added <= 2 else 1


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--measure":
        measure(sys.argv[2], sys.argv[3])
    elif len(sys.argv) in (2, 3):
        sys.exit(main())
    else:
        sys.exit(__doc__)
