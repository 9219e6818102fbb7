#!/usr/bin/python3
"""The loader's workers: their samples, the time of one, how many batches lie ready.

usage: torch_loader_test.py path/to/dwell

A sample of the data sets below sleeps, and writes down for how long. A worker's time per sample is
that, and half as much again at most for the rest of its work; the queue is empty where workers are
slower than the loop and full where the loop is slower.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import json
import os
import subprocess
import sys
import tempfile

import again
import forked
import installed

TORCH = installed.need("torch")

SERVER = forked.Server("torch.utils.data", shared=True)
HEAD = """
import os, time, torch, torch.nn as nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
torch.set_num_threads(1)
def sleep(seconds):
    start = time.perf_counter()
    time.sleep(seconds)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "slept"), "a") as file:
        print(time.perf_counter() - start, file=file)
class Map(Dataset):
    def __init__(self, sleep): self.sleep = sleep
    def __len__(self): return 64
    def __getitem__(self, i):
        sleep(self.sleep)
        return torch.ones(4)
class Stream(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        for i in range(64 // (info.num_workers if info else 1)):
            sleep(.02)
            yield torch.ones(4)
def train(loader, sleep=0):
    net = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=.1)
    for x in loader:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
        time.sleep(sleep)
if __name__ == "__main__":
"""

# name, script, workers, a sample's seconds, bounds of the mean of ready batches
SCRIPTS = (
    ("workers that cannot keep up", "train(DataLoader(Map(.02), 4, num_workers=2))", 2, .02, (0, 1)),
    ("workers that wait for the loop", "train(DataLoader(Map(.001), 4, num_workers=2), .06)", 2, .001, (1.5, 4)),
    ("spawned workers", """train(DataLoader(Map(.02), 4, num_workers=2, multiprocessing_context="spawn"))""",
     2, .02, (0, 1)),
    ("a data set that is iterated", "train(DataLoader(Stream(), 4, num_workers=2))", 2, .02, (0, 1)),
    ("samples that come singly", "train(DataLoader(Map(.02), None))", 0, .02, None),
    ("no workers", "train(DataLoader(Map(.02), 4))", 0, .02, None),
)
counts = {True: 0, False: 0}


def check(what, good, said=""):
    counts[bool(good)] += 1
    if not good:
        print(f"FAIL {what}: {said}")


def record(dwell, path, trace):
    """(the run, the rows of its dataloader view, how many batches lay ready)."""
    slept = os.path.join(os.path.dirname(path), "slept")
    if os.path.exists(slept):
        os.unlink(slept)
    done = SERVER.run(dwell, "--cost", "full", "-o", trace, script=path)
    view = json.loads(subprocess.run([dwell, "report", "--view", "dataloader", "--format", "json", trace],
                                     text=True, capture_output=True, check=True).stdout)["views"][0]
    os.unlink(trace)
    names = [column["name"] for column in view["columns"]]
    rows = [dict(zip(names, row)) for row in view["rows"]]
    return done, rows, [row["ready"] for row in rows if row["ready"] is not None]


def main():
    dwell = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for name, script, workers, sample, bounds in SCRIPTS:
            path, trace = os.path.join(folder, "train.py"), os.path.join(folder, "t.dwell")
            with open(path, "w", encoding="utf-8") as file:
                file.write(HEAD + "    " + script)
            # A loop that gets no processor finds more batches ready than it would.
            done, rows, ready = again.until(
                lambda found, bounds=bounds: not bounds or all(bounds[0] <= one <= bounds[1] for one in found[2]),
                lambda: record(dwell, path, trace))
            check(f"{name}: it runs", done.returncode == 0, done.stderr)
            made = [row for row in rows if row["samples"]]
            check(f"{name}: who makes samples", len(made) == (workers or 1) and
                  all((row["role"] == "worker") == bool(workers) for row in made), rows)
            # what is iterated is asked for batches until there are none: more than there are
            most = 64 + (4 * workers if "Stream" in script else 1)
            check(f"{name}: samples", 64 <= sum(row["samples"] for row in made) <= most, made)
            least = sample * 64 / most
            # What they slept in truth, which on a busy machine is more than they asked for.
            with open(os.path.join(folder, "slept"), encoding="utf-8") as file:
                slept = sum(map(float, file)) / 64
            os.unlink(os.path.join(folder, "slept"))
            mean = sum(row["sample_ns"] * row["samples"] for row in made) / 1e9 / 64
            check(f"{name}: a sample's time", all(least <= row["sample_ns"] / 1e9 for row in made) and
                  slept <= mean <= slept * 1.5 + .01, (slept, made))
            check(f"{name}: ready batches",
                  not ready if bounds is None else len(ready) == 1 and bounds[0] <= ready[0] <= bounds[1],
                  rows)
    print(f"torch_loader_test: PyTorch {TORCH}: {counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
