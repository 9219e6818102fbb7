#!/usr/bin/python3
"""dwell.singa over PyTorch: the listings of a training loop at each verbosity.

usage: singa_test.py BUILD_FOLDER PACKAGE_FOLDER

A loop of known modules is trained with an evaluation between its iterations; one module
sleeps in its forward and its backward. The listing at verbosity 2 must name PyTorch's own
operators in the order in which they run, and no evaluation; the sleeps must be found whole
in the iteration's forward and backward at verbosity 1. Then what is refused, and
`dwell report --layout singa` on the trace that the program left, against what it printed.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import os
import re
import subprocess
import sys
import tempfile

import again
import forked
import installed

installed.need("torch")

EXAMPLES = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/pytorch"))
SLEEP = .02  # seconds
SKIP, ITERATIONS = 2, 6

SCRIPT = installed.LIGHT + f"""
import sys, time, torch, torch.nn as nn, torch.nn.functional as F
from dwell.singa import device

class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): time.sleep({SLEEP}); return x * 1
    @staticmethod
    def backward(ctx, gradient): time.sleep({SLEEP}); return gradient * 1

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(1, 4, 3), nn.Linear(4 * 36, 10)
    def forward(self, x):
        return self.fc(Slow.apply(torch.flatten(F.relu(self.conv(x)), 1)))

torch.manual_seed(0)
torch.set_num_threads(1)
dev = device.create_cuda_gpu()
dev.SetVerbosity(int(sys.argv[1]))
dev.SetSkipIteration(int(sys.argv[2]))
dev.EnableGraph(True)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=.1, momentum=.9)
x, y = torch.ones(2, 1, 8, 8), torch.tensor([1, 2])
for i in range({ITERATIONS}):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    net.eval()
    with torch.no_grad(): torch.sigmoid(net(x))
    net.train()
dev.PrintTimeProfiling()
"""

REFUSED = """
from dwell.singa import device
import dwell, glob
dev = device.create_cuda_gpu_on(3)
print(dev.id(), device.create_cpu_device().id(), [d.id() for d in device.create_cuda_gpus(2)])
dev.EnableGraph(True)
print(dev.graph_enabled())
dev.SetVerbosity(0)
dev.PrintTimeProfiling()
print(glob.glob("*.dwell"))
for verbosity in (4, -1, 2.5):
    try:
        dev.SetVerbosity(verbosity)
    except (dwell.Error, TypeError) as error:
        print(type(error).__name__, error)
try:
    dev.SetSkipIteration(-1)
except ValueError as error:
    print("ValueError", error)
dev.SetVerbosity(1)
try:
    dev.PrintTimeProfiling()
except dwell.Error as error:
    print("Error", error)
dev.Reset()
dev.PrintTimeProfiling()
print(dev.graph_enabled())
"""

counts = {True: 0, False: 0}


def check(what, good, said=""):
    counts[bool(good)] += 1
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {said}"))


def run(folder, script, *arguments):
    path = os.path.join(folder, "loop.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(script)
    return server.alone(path, *arguments, cwd=folder)


def take_trace(folder):
    traces = [name for name in os.listdir(folder) if name.endswith(".dwell")]
    return os.path.join(folder, traces[0]) if len(traces) == 1 else None


def in_order(names, wanted):
    """Whether `wanted` (parts of names) occur in this order, others between them."""
    rest = iter(names)
    return all(any(part in name for name in rest) for part in wanted)


def same(one, other):
    """But for the clock's rate, which is known better when the program has ended."""
    number = re.compile(r"(?<= : )\S+")
    figures = [[float(text) for text in number.findall(listing)] for listing in (one, other)]
    return (number.sub("", one) == number.sub("", other) and
            all(abs(a - b) <= 1e-3 * b for a, b in zip(*figures)))


TWO_LINES = (r"\nTime Profiling:\nForward Propagation Time : (\S+) sec\n"
             r"Backward Propagation Time : (\S+) sec\n")
SLOW = r"^OP_ID\d+\. .*SlowBackward.* : (\S+) sec$"


def measured(folder, verbosity, pattern):
    """A run whose times of the sleep are a little more than it, unless the machine has no calm moment."""
    def measure():
        trace = take_trace(folder)
        if trace:
            os.unlink(trace)
        return run(folder, SCRIPT, verbosity, str(SKIP))

    def is_undisturbed(done):
        found = re.search(pattern, done.stdout, re.M)
        return found and all(float(text) <= 2 * SLEEP for text in found.groups())
    return again.until(is_undisturbed, measure)


def level_1(folder):
    done = measured(folder, "1", TWO_LINES)
    match = re.fullmatch(TWO_LINES, done.stdout)
    check("verbosity 1 prints two lines", match, done.stdout + done.stderr)
    if match:
        for name, text in zip(("forward", "backward"), match.groups()):
            check(f"verbosity 1: {name}", SLEEP <= float(text) <= 2 * SLEEP, text)


def level_2(folder):
    done = measured(folder, "2", SLOW)
    lines = done.stdout.splitlines()
    rows = [re.fullmatch(r"OP_ID(\d+)\. (.+) : (\S+) sec", line) for line in lines[2:]]
    check("verbosity 2 prints a line an operation", lines[:2] == ["", "Time Profiling:"] and rows and all(rows),
          done.stdout + done.stderr)
    names = [row.group(2) for row in rows if row]
    seconds = {row.group(2): float(row.group(3)) for row in rows if row}
    numbers = [int(row.group(1)) for row in rows if row]
    check("their numbers ascend", numbers == sorted(set(numbers)), numbers)
    check("forward, backward, optimizer in order",
          in_order(names, ["aten::conv2d", "aten::relu", "aten::flatten", "Slow", "aten::linear",
                           "aten::cross_entropy_loss", "NllLossBackward0", "LogSoftmaxBackward0",
                           "AddmmBackward0", "SlowBackward", "ReluBackward0", "ConvolutionBackward0",
                           "aten::"]), names)
    check("no evaluation", "aten::sigmoid" not in names, names)
    slow = [value for name, value in seconds.items() if "SlowBackward" in name]
    check("the slow backward's time", len(slow) == 1 and SLEEP <= slow[0] <= 2 * SLEEP, slow)
    report = subprocess.run([os.path.join(build, "dwell"), "report", take_trace(folder), "--layout", "singa"],
                            capture_output=True, text=True)
    check("dwell report --layout singa prints the same", same(report.stdout, done.stdout),
          report.stdout + report.stderr + done.stdout)


def real_model(folder):
    """examples/pytorch: ResNet-18's own operators, as many as it has layers."""
    with open(os.path.join(EXAMPLES, "time_profiling.py"), encoding="utf-8") as file:
        script = f"import sys; sys.path.insert(0, {EXAMPLES!r})\n" + file.read()
    done = run(folder, script, "2", "7")
    names = re.findall(r"^OP_ID\d+\. (.+) : \S+ sec$", done.stdout, re.M)
    count = {part: sum(part in name for name in names)
             for part in ("aten::conv2d", "aten::batch_norm", "aten::linear", "ConvolutionBackward0",
                          "BatchNormBackward0", "AddmmBackward0")}
    check("ResNet-18's operations", count == {"aten::conv2d": 20, "aten::batch_norm": 20, "aten::linear": 1,
          "ConvolutionBackward0": 20, "BatchNormBackward0": 20, "AddmmBackward0": 1},
          str(count) + done.stdout + done.stderr)


def level_3(folder):
    done = run(folder, SCRIPT, "3", str(SKIP))
    check("verbosity 3 of one process: an empty list, and why",
          done.stdout == "\nTime Profiling:\n" and "no operation is distributed" in done.stderr,
          done.stdout + done.stderr)


def refused(folder):
    done = run(folder, SCRIPT, "2", str(ITERATIONS))
    check("more skipped than there are", done.returncode == 1 and f"the first {ITERATIONS} iterations are skipped"
          in done.stderr, done.stderr)
    os.unlink(take_trace(folder))
    lines = run(folder, REFUSED).stdout.splitlines()
    wanted = [r"3 -1 \[0, 1\]", "True", r"\[\]", r"Error no verbosity 4: .*", r"Error no verbosity -1: .*",
              "TypeError .*", "ValueError -1 iterations .*", "Error .*iteration.*", "False"]
    check("what is refused", len(lines) == len(wanted) and all(map(re.fullmatch, wanted, lines)), lines)


def main():
    for part in (level_1, level_2, real_model, level_3, refused):
        with tempfile.TemporaryDirectory() as folder:
            part(folder)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    build, package = map(os.path.abspath, sys.argv[1:3])
    server = forked.Server(env=dict(os.environ, LD_LIBRARY_PATH=f"{build}:{build}/src/interfaces/compat/singa",
                                    PYTHONPATH=package, OMP_WAIT_POLICY="PASSIVE"))
    sys.exit(main())
