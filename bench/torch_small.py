#!/usr/bin/python3
"""What recording costs by default where a step has many small operators: 100, 1,000 and 25,000 of them.

usage: torch_small.py BUILD [PAIRS]        7 pairs

A step calls a small net again and again, as an agent does in an episode, then learns. Pairs of processes alternate, one
alone and one under `dwell run`; a process prints the CPU time of all its threads for its first 30 steps, and for all.
Printed for each size: the median of the pairs' differences with its quartiles, and the cost that the report states; then the
medians of the first steps, most of which are recorded whole, and of the others.

Exit status 0; 77: no PyTorch here.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile

FIRST = 30
SIZES = (("few", 2, 3000), ("many", 23, 1000), ("most", 580, 300))  # calls of the net in a step; steps


def measure(calls, steps):
    import time
    import torch
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.ReLU())
    optimizer, x = torch.optim.SGD(net.parameters(), 1e-4), torch.randn(8, 32)
    began = time.process_time()
    for step in range(steps):
        if step == FIRST:
            first = time.process_time() - began
        optimizer.zero_grad()
        y = x
        for _ in range(calls):
            y = net(y)
        y.sum().backward()
        optimizer.step()
    print("RESULT", time.process_time() - began, first)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    whole, first = (float(number) for number in re.search(r"RESULT (\S+) (\S+)", done.stdout).groups())
    return whole, first, whole - first


def operators_of_a_step(dwell, trace):
    """In one of the first steps, which are recorded whole."""
    text = subprocess.run([dwell, "query", trace, "select count(*) from ranges where category = 'operator' and step = 5",
                           "--format", "csv"], capture_output=True, text=True, check=True).stdout
    return int(text.split()[-1])


def stated_percent(dwell, trace):
    """What the report says that recording cost."""
    text = subprocess.run([dwell, "report", trace], capture_output=True, text=True, check=True).stdout
    return float(re.search(r"profiling cost (?:about|less\s+than)\s+([0-9.]+)%", text).group(1))


def main():
    try:
        import torch
    except ImportError as error:
        print(f"skip torch_small: {error}")
        return 77
    build, pairs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 7
    dwell, me = os.path.join(build, "dwell"), [sys.executable, os.path.abspath(__file__), "--measure"]
    print(f"PyTorch {torch.__version__}, CPU time of whole loops, {pairs} pairs")
    for name, calls, steps in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            trace, added, alone = os.path.join(folder, "t.dwell"), [[], [], []], []
            for turn in range(pairs):
                times = [(), ()]
                for under in (0, 1)[::1 if turn % 2 else -1]:
                    times[under] = run(*[dwell, "run", "-o", trace, "--"][:5 * under], *me, str(calls), str(steps))
                alone.append(1e6 * times[0][0] / steps)
                for each, less, more in zip(added, *times):
                    each.append(100 * (more / less - 1))
            low, middle, high = statistics.quantiles(added[0], n=4)
            print(f"{name}: {operators_of_a_step(dwell, trace)} operators a step of {statistics.median(alone):.0f} us: {middle:.1f}% more, "
                  f"quartiles {low:.1f} and {high:.1f}; the report states {stated_percent(dwell, trace):.1f}% ({steps} steps)", flush=True)
            print(f"    first {FIRST} steps: {statistics.median(added[1]):.1f}% more; others: {statistics.median(added[2]):.1f}%", flush=True)
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--measure":
        measure(int(sys.argv[2]), int(sys.argv[3]))
    elif len(sys.argv) in (2, 3):
        sys.exit(main())
    else:
        sys.exit(__doc__)
