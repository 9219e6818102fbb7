#!/usr/bin/python3
"""What recording by default costs a training of ResNet-18 in PyTorch.

usage: torch_resnet.py BUILD [pairs]

Batches of 8, one thread. Pairs of processes, one under `dwell run` and one without, in
turns; each trains a while and reports its median step. Printed: the median of the pairs'
differences with their range, which on a shared machine is mostly the machine's; and the
ranges of a step times what one costs, which is not: that of an operator, PyTorch's own part
in calling us included, measured in the same processes with x.add_(1), which is five.

Exit status 0; 77: no PyTorch here.
"""
import csv
import io
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WARM, STEPS = 5, 30


def train():
    sys.path.insert(0, os.path.join(HERE, "..", "examples", "pytorch"))
    import torch
    from resnet import ResNet
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = ResNet()
    optimizer = torch.optim.SGD(net.parameters(), lr=.01, momentum=.9)
    x, y = torch.randn(8, 1, 28, 28), torch.randint(0, 10, (8,))
    seconds = []
    for _ in range(WARM + STEPS):
        start = time.perf_counter()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    x, passes = torch.ones(1), []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(5000):
            x.add_(1)
        passes.append((time.perf_counter() - start) / 25000)
    print("RESULT", statistics.median(seconds[WARM:]) * 1e3, min(passes) * 1e9)


def one(*prefix):
    done = subprocess.run([*prefix, sys.executable, __file__, "train"], stdout=subprocess.PIPE, text=True, check=True)
    return [float(number) for number in re.search(r"RESULT (\S+) (\S+)", done.stdout).groups()]


def calls(dwell, trace, view):
    """In the steps that count."""
    text = subprocess.run([dwell, "report", "--view", view, "--steps", f"{WARM}..{WARM + STEPS - 1}", "--limit", "all",
                           "--format", "csv", trace], stdout=subprocess.PIPE, text=True, check=True).stdout
    return sum(int(row["calls"]) for row in csv.DictReader(io.StringIO(text)) if row["calls"].isdigit())


def main():
    try:
        import torch
    except ImportError as error:
        print(f"skip torch_resnet: {error}")
        return 77
    dwell = os.path.join(os.path.abspath(sys.argv[1]), "dwell")
    pairs = int(sys.argv[2]) if sys.argv[2:] else 7
    plain, differences, costs = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "resnet.dwell")
        run = [dwell, "run", "-o", trace, "--"]
        for turn in range(pairs):
            first, second = (one(*run), one()) if turn % 2 else (one(), one(*run))
            without, under = (second, first) if turn % 2 else (first, second)
            plain.append(without[0])
            differences.append(under[0] / without[0] - 1)
            costs.append(under[1] - without[1])
        ranges = sum(calls(dwell, trace, view) for view in ("operators", "layers")) / STEPS
    step, cost = statistics.median(plain), statistics.median(costs)
    print(f"PyTorch {torch.__version__}, ResNet-18, batch 8, one thread: {step:.1f} ms a step, {pairs} pairs")
    print(f"by pairs: {statistics.median(differences) * 100:.2f}% ({min(differences) * 100:.1f} to "
          f"{max(differences) * 100:.1f}%)")
    print(f"by records: {ranges:.0f} ranges a step at {cost:.0f} ns: {ranges * cost / step / 1e4:.2f}%")
    return 0


if sys.argv[1:] == ["train"]:
    train()
else:
    sys.exit(main())
