#!/usr/bin/python3
"""Steps and phases of unmodified training loops: how many, and how long.

usage: torch_loop_test.py path/to/dwell

Each script below is run as it is under `dwell run` (more are in torch_steps_test.py). The number of steps is known, and
where the script sleeps, so is the time of a phase: a sleep must be found whole in the
phase it lies in, and take no more than half as much again beyond the script's own work.

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

PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")
SERVER = forked.Server("torch.utils.data", shared=True)
TRIES = 3
HEAD = """
import time, torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(0)
torch.set_num_threads(1)

class Data(Dataset):
    def __init__(self, count, sleep=0): self.count, self.sleep = count, sleep
    def __len__(self): return self.count
    def __getitem__(self, i):
        time.sleep(self.sleep)
        return torch.ones(4), i % 2

class Sleep(nn.Module):
    def __init__(self, sleep): super().__init__(); self.sleep = sleep
    def forward(self, x): time.sleep(self.sleep); return x

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
"""

OWN = f"""
import sys
sys.path.insert(0, {PACKAGE!r})
import dwell
optimizer = torch.optim.SGD(net.parameters(), lr=.1)
def half():
    optimizer.zero_grad()
    net(torch.ones(2, 4)).sum().backward()
    optimizer.step()
"""

# name, script, steps, {(where, phase) or the name of a range: seconds}, options of dwell run
SCRIPTS = (
    ("a loop with evaluation", """
net.append(Sleep(.01)) if hasattr(net, "append") else net.add_module("3", Sleep(.01))
optimizer = torch.optim.SGD(net.parameters(), lr=.1, momentum=.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
for epoch in range(2):
    net.train()
    for x, y in DataLoader(Data(20, .005), 4):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        for x, y in DataLoader(Data(12), 4):
            net(x)
    scheduler.step()
""", 10, {("steps", "data"): .2, ("steps", "python"): .1, ("outside", "evaluation"): .06}),
    ("evaluation before anything trains, which trains without an optimizer", """
net.append(Sleep(.01)) if hasattr(net, "append") else net.add_module("3", Sleep(.01))
net.eval()
with torch.no_grad():
    for x, y in DataLoader(Data(12), 4): net(x)
net.train()
for x, y in DataLoader(Data(20, .005), 4):
    net.zero_grad()
    F.cross_entropy(net(x), y).backward()
    for p in net.parameters(): p.data.add_(p.grad, alpha=-.1)
""", 5, {("steps", "data"): .1, ("outside", "evaluation"): .03}),
    # Only its backward() shows that the first one is that: its wait was not recorded.
    ("the same, and only the first of its steps", """
net.eval()
with torch.no_grad():
    for x, y in DataLoader(Data(12), 4): net(x)
net.train()
for x, y in DataLoader(Data(20, .01), 4):
    net.zero_grad()
    F.cross_entropy(net(x), y).backward()
""", 5, {("steps", "data"): .08}, ["--steps", "0..2"]),
    ("only the steps asked for, with their first wait", """
optimizer = torch.optim.SGD(net.parameters(), lr=.1)
for x, y in DataLoader(Data(40, .01), 4):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
""", 10, {("steps", "data"): .12}, ["--steps", "3..5"]),
    ("a function that the user named", """
optimizer = torch.optim.SGD(net.parameters(), lr=.1)
def train_step(x, y):
    for part in range(3):
        optimizer.zero_grad(); F.cross_entropy(net(x), y).backward(); optimizer.step()
for x, y in DataLoader(Data(20, .005), 4):
    train_step(x, y)
""", 5, {("steps", "data"): .1}, ["--step-on", "train_step"]),
    ("a method that the user named", """
class Trainer:
    def step(self, x, y):
        return F.cross_entropy(net(x), y).backward()
trainer, optimizer = Trainer(), torch.optim.SGD(net.parameters(), lr=.1)
for x, y in DataLoader(Data(20), 4):
    trainer.step(x, y)
""", 5, {}, ["--step-on=Trainer.step"]),
    ("an optimizer that the user named", """
other = nn.Linear(4, 4)
first, second = torch.optim.Adam(net.parameters()), torch.optim.SGD(other.parameters(), lr=.1)
for i, (x, y) in enumerate(DataLoader(Data(40), 4)):
    first.zero_grad(); net(other(x)).sum().backward(); first.step()
    if i % 2: second.step()
""", 10, {}, ["--step-on", "Adam"]),
    ("a module that the user named", """
net.eval()
with torch.no_grad():
    for x, y in DataLoader(Data(40), 4):
        net(x); net(x)
""", 20, {}, ["--step-on", "Sequential.2"]),
    # Two steps of the optimizer in each iteration, and the program's word against them.
    ("dwell.step() where an iteration begins", OWN + """
for i in range(6):
    dwell.step()
    half(); half()
""", 6, {}, ["--step-on", "SGD"]),
    ("and where it ends: the first one is found as ever", OWN + """
for i in range(6):
    half(); half()
    dwell.step()
""", 7, {}),
    ("dwell.xla.StepTrace", OWN + """
import dwell.xla
for i in range(6):
    with dwell.xla.StepTrace("train", step_num=i): half(); half()
""", 6, {}),
    ("a profile with a schedule, between steps that are found", OWN + """
for i in range(3): half()
with dwell.profile(schedule=dwell.schedule(wait=1, warmup=1, active=2, repeat=1)) as prof:
    for i in range(4): half(); half(); prof.step()
assert [row.count for row in prof.key_averages() if row.key == "ProfilerStep*"] == [2]
for i in range(2): half()
""", 9, {}),
    ("workers", """
optimizer = torch.optim.SGD(net.parameters(), lr=.1)
conv = nn.Conv2d(1, 2, 3)
for x, y in DataLoader(Data(16, .02), 4, num_workers=4, multiprocessing_context="fork"):
    optimizer.zero_grad()
    conv(x[None]).sum(); F.cross_entropy(net(x), y).backward()
    optimizer.step()
""", 4, {"a batch's samples": .32}),
)

LOOP = """
optimizer = torch.optim.SGD(net.parameters(), lr=.1)
def train_step(x, y):
    optimizer.zero_grad(); F.cross_entropy(net(x), y).backward(); optimizer.step()
def unused(): pass
for x, y in DataLoader(Data(8), 4):
    train_step(x, y)
"""
# the NAME of --step-on, the number of steps, the expected note
STEP_ON = (
    ("train_step", 2, None),
    ("trian_step", 0, "nothing of this name was seen; these would do: SGD, Sequential, train_step, unused; a function of a native library is FILE:NAME"),
    ("unused", 0, "it is there, and was never called"),
    ("Sequential.1", 2, None),
)


def main():
    dwell, failures = os.path.abspath(sys.argv[1]), 0

    def report(trace, view):
        done = subprocess.run([dwell, "report", "--view", view, "--format", "json", trace],
                              capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["views"][0]

    def rows(view):
        names = [column["name"] for column in view["columns"]]
        return [dict(zip(names, row)) for row in view["rows"]]

    def record(folder, steps, phases, options, tries):
        """What is wrong with a run of the script, and how many steps it has; None: this PyTorch cannot run it. Sleeps take longer
        while other programs have the processors: where they have them in the last run, too, they may take four times as long."""
        others = again.Others()
        tries.append(folder)
        path, trace = os.path.join(folder, "train.py"), os.path.join(folder, "t.dwell")
        done = SERVER.run(dwell, "--cost", "full", "-o", trace, *options, script=path)
        if done.returncode == 77:
            return None
        if done.returncode:
            return [done.stderr[-500:]], 0
        found = len(rows(report(trace, "steps")))
        wrong = [f"{found} steps, not {steps}"] if found != steps else []
        times = {(r["where"], r["phase"]): r["total_ns"] / 1e9 for r in rows(report(trace, "phases"))} if phases else {}
        times["steps", "python"] = times.get(("steps", "python"), 0) + times.pop(("steps", "idle"), 0)  # a sleep is none of Python's time
        if phases:
            times.update((r["name"], r["total_ns"] / 1e9) for r in rows(report(trace, "actions")))
        most = 4 if len(tries) == TRIES and others.share() >= again.DISTURBED else 1.5
        return wrong + [f"{place}: {times.get(place)} s, not {seconds}" for place, seconds in phases.items()
                        if not seconds <= times.get(place, 0) <= seconds * most + .02], found

    for name, script, steps, phases, *options in SCRIPTS:
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "train.py"), "w", encoding="utf-8") as file:
                file.write(HEAD + script)
            tries = []
            result = again.until(lambda result: not result or not result[0],
                                 lambda: record(folder, steps, phases, options[0] if options else (), tries), TRIES if phases else 1)
        if not result:
            print(f"skip {name}: this PyTorch has no such thing")
            continue
        wrong, found = result
        failures += bool(wrong)
        print(f"{'FAIL' if wrong else 'ok  '} {name}: {'; '.join(wrong) or f'{found} steps'}")
    for named, steps, wanted in STEP_ON:
        with tempfile.TemporaryDirectory() as folder:
            path, trace = os.path.join(folder, "train.py"), os.path.join(folder, "t.dwell")
            with open(path, "w", encoding="utf-8") as file:
                file.write(installed.LIGHT * (not steps) + HEAD + LOOP)
            options = "--cost", "full", "-o", trace, "--step-on", named
            # What is said of a name that nothing has depends on the program that `dwell run` starts.
            done = (SERVER.run(dwell, *options, script=path) if steps else
                    subprocess.run([dwell, "run", *options, sys.executable, path], capture_output=True, text=True, check=False))
            said = [line.split(": ", 2)[2] for line in done.stderr.splitlines() if "--step-on" in line]
            shown = " ".join(subprocess.run([dwell, "report", trace], capture_output=True, text=True, check=True).stdout.split())
            count = len(rows(report(trace, "steps"))) if steps else 0
            passed = said == ([wanted] if wanted else []) and count == steps and (
                f"--step-on {named}: {wanted}." in shown if wanted else "--step-on" not in shown)
        failures += not passed
        print(f"{'ok  ' if passed else 'FAIL'} --step-on {named}: {said or 'nothing said'}")
    print(f"PyTorch {TORCH}: {'failed' if failures else 'all passed'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) == 2 else __doc__)
