#!/usr/bin/python3
"""Programs of known cause: does the overview name it first?

usage: torch_verdict_test.py path/to/dwell

Each script spends its steps on one thing (waiting for data, Python, the collector, many
small operators) or lets its memory grow; the first verdict of the overview must say so.
What the view dataloader tells of workers is compared with known sleeps.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError as error:
    print(f"skip torch_verdict_test: {error}")
    sys.exit(77)

HEAD = """
import gc, time, torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(0)
torch.set_num_threads(1)

class Data(Dataset):
    def __init__(self, count, sleep=0): self.count, self.sleep = count, sleep
    def __len__(self): return self.count
    def __getitem__(self, i):
        time.sleep(self.sleep)
        return torch.ones(256), i % 2

net = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=.01)
def train(x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    return loss
def work(x, seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end: net(x)
"""

# name, script, what the first verdict must be, what to try
SCRIPTS = (
    ("data: too few workers", """
for x, y in DataLoader(Data(160, .005), 8, num_workers=2):
    work(x, .010); train(x, y)
""", r"Waiting for data takes \d+% of each step: 2 loader workers cannot keep up \(queue empty at \d+%",
     r"try num_workers=[3-5]"),
    ("data: no workers", """
for x, y in DataLoader(Data(80, .002), 8):
    work(x, .010); train(x, y)
""", r"Waiting for data takes \d+% of each step: the loop makes its batches itself \(num_workers=0\)\.",
     r"try num_workers=\d+"),
    ("Python", """
x, y = torch.ones(64, 256), torch.zeros(64, dtype=torch.long)
for i in range(20):
    total = 0
    for j in range(300000): total += j * j % 7
    train(x, y)
""", r"Python between operators takes \d+% of each step", r"--functions"),
    ("collector", """
kept = [[i] for i in range(300000)]
x, y = torch.ones(8, 256), torch.zeros(8, dtype=torch.long)
for i in range(20):
    train(x, y)
    gc.collect()
""", r"Garbage collection takes \d+% of each step", r"gc\.freeze\(\)"),
    ("small operators", """
x, y = torch.ones(8, 256), torch.zeros(8, dtype=torch.long)
small = torch.ones(4)
for i in range(20):
    optimizer.zero_grad()
    for j in range(3000): small.mul_(1.0001)
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
""", r"\d+,\d\d\d small operators a step", r"fewer and larger"),
    ("memory growth", """
x, y = torch.ones(1024, 256), torch.zeros(1024, dtype=torch.long)
outputs = []
for i in range(40):
    outputs.append(net[0](x)); train(x, y)
""", r"Memory grows by \S+ MiB a step and is not given back", r"loss\.item\(\)"),
    ("memory growth, and waiting for data", """
outputs = []
for x, y in DataLoader(Data(160, .003), 4):
    x, y = x.repeat(256, 1), y.repeat(256)
    outputs.append(net[0](x)); train(x, y)
""", r"Memory grows by \S+ MiB a step and is not given back", r"loss\.item\(\)"),
)


def first_verdict(text):
    """The lines after the sentence about the steps, up to the first table."""
    lines = text.splitlines()
    return lines[1:next((i for i, line in enumerate(lines) if not line.strip()), len(lines))]


def loader_rows(dwell, trace):
    done = subprocess.run([dwell, "report", "--view", "dataloader", "--format", "json", trace],
                          capture_output=True, text=True, check=True)
    view = json.loads(done.stdout)["views"][0]
    names = [column["name"] for column in view["columns"]]
    return [dict(zip(names, row)) for row in view["rows"]]


def main():
    dwell, failures = os.path.abspath(sys.argv[1]), 0

    def check(name, passed, detail=""):
        nonlocal failures
        failures += not passed
        print(f"{'ok  ' if passed else 'FAIL'} {name}{': ' if detail else ''}{detail}")

    with tempfile.TemporaryDirectory() as folder:
        for name, script, verdict, advice in SCRIPTS:
            path, trace = os.path.join(folder, "train.py"), os.path.join(folder, "t.dwell")
            with open(path, "w", encoding="utf-8") as file:
                file.write(HEAD + script)
            done = subprocess.run([dwell, "run", "-o", trace, sys.executable, path], capture_output=True,
                                  text=True)
            text = subprocess.run([dwell, "report", trace], capture_output=True, text=True).stdout
            said = first_verdict(text) + ["", ""]
            check(name, done.returncode == 0 and re.match(verdict, said[0]) and re.search(advice, said[1]),
                  done.stderr[-300:] if done.returncode else " ".join(said).strip())
            if name == "data: too few workers" and done.returncode == 0:
                workers = [row for row in loader_rows(dwell, trace) if row["role"] == "worker"]
                check("two workers made 80 samples each", [row["samples"] for row in workers] == [80, 80])
                check("5 ms a sample, and little more",
                      all(5e6 <= row["per_sample_ns"] < 8e6 for row in workers),
                      ", ".join(f"{row['per_sample_ns'] / 1e6:.2f} ms" for row in workers))
    print(f"PyTorch {torch.__version__}: {'failed' if failures else 'all passed'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) == 2 else __doc__)
