#!/usr/bin/python3
"""Facts and verdicts name the lines of a script between which time is lost.

usage: torch_places_test.py path/to/dwell

Each script marks its lines with comments: #A and #B stand at the operators before and after what is
planted, in and outside the steps. Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import csv
import io
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
import sys, threading, time, torch, torch.nn as nn
import torch.nn.functional as F
torch.set_num_threads(1)
class Net(nn.Module):
    def __init__(self, middle=lambda: None):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(64, 64), nn.ReLU())
        self.last = nn.Linear(64, 10)
        self.middle = middle
    def forward(self, x):
        x = self.first(x) #FORWARD1
        self.middle()
        return self.last(x) #FORWARD2
def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
def step(net, optimizer, between=lambda: None):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(torch.ones(4, 64)), torch.ones(4, dtype=torch.long)) #LOSS
    between()
    loss.backward() #BACKWARD
    optimizer.step() #STEP
    return loss
def make(middle=lambda: None):
    net = Net(middle)
    return net, torch.optim.SGD(net.parameters(), lr=.001)
"""

# name, fact, marks of the lines, script
SCRIPTS = (
    ("Python in a step", "step.python", "LOSS BACKWARD", """
net, optimizer = make()
for i in range(30): step(net, optimizer, lambda: spin(.01))
"""),
    ("a wait in a step, beside Python", "step.idle", "LOSS BACKWARD", """
net, optimizer = make(lambda: spin(.004))
for i in range(30): step(net, optimizer, lambda: time.sleep(.02))
"""),
    ("a wait after the loader", "step.idle", "A B", """
net, optimizer = make()
for x in torch.utils.data.DataLoader(torch.ones(60, 64)): #A
    time.sleep(.02)
    optimizer.zero_grad() #B
    net(x).sum().backward()
    optimizer.step()
"""),
    ("Python in a module", "step.python", "FORWARD1 FORWARD2", """
net, optimizer = make(lambda: spin(.01))
for i in range(30): step(net, optimizer, lambda: time.sleep(.005))
"""),
    ("Python between steps", "loop.python", "A B", """
def metrics(loss):
    value = loss.detach().add(1) #A
    spin(.01)
    return value.mul(2) #B
net, optimizer = make()
for i in range(30): metrics(step(net, optimizer))
"""),
    ("a wait between steps", "loop.waiting", "A B", """
def save(loss):
    value = loss.detach().add(1) #A
    time.sleep(.02)
    return value.mul(2) #B
net, optimizer = make()
for i in range(30): save(step(net, optimizer))
"""),
    ("a generator", "loop.python", "A B", """
def losses(net, optimizer):
    for i in range(30):
        yield step(net, optimizer).detach().add(1) #A
net, optimizer = make()
for loss in losses(net, optimizer):
    spin(.01)
    loss.mul(2) #B
"""),
    # From Python 3.12 on a frame of the interpreter's own lies between that of __init__() and its caller's.
    ("code that is freed, called by __init__()", "step.python", "LOSS BACKWARD", """
net, optimizer = make()
class Made:
    def __init__(self, function): function(1)
def between():
    names = {"torch": torch}
    for i in range(20):
        exec(compile(f"def made(x): return x + {i} + torch.ones(2).sum().item()", f"made{i}.py", "exec"), names)
        Made(names["made"])
    torch.ones(2).add_(1)
def plain(): spin(.02)
for i in range(30):
    between()
    step(net, optimizer, plain)
"""),
    ("other threads", "step.python", "LOSS BACKWARD", """
def work():
    while not done:
        torch.ones(8).add_(1)
        time.sleep(.005)
done = False
threads = [threading.Thread(target=work) for i in range(2)]
for thread in threads: thread.start()
net, optimizer = make()
for i in range(30): step(net, optimizer, lambda: spin(.02))
done = True
for thread in threads: thread.join()
"""),
    ("a long operator", "operators.largest", "A", """
net, optimizer = make()
big = torch.ones(800, 800)
for i in range(30):
    step(net, optimizer, lambda: big @ big @ big) #A
"""),
)
counts = {True: 0, False: 0}


def check(what, good, said=""):
    counts[bool(good)] += 1
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {said}"))


def facts_of(dwell, trace):
    """Fact to its row, and all of the text."""
    text = subprocess.run([dwell, "report", trace, "--view", "facts", "--format", "csv"],
                          capture_output=True, text=True, check=True).stdout
    return {row["fact"]: row for row in csv.DictReader(io.StringIO(text))}, text


def record(dwell, name, *options):
    trace = name.replace(".py", ".dwell")
    if os.path.exists(trace):
        os.unlink(trace)
    done = SERVER.run(dwell, "--cost", "full", "-o", trace, *options, script=name)
    return (done, *facts_of(dwell, trace))


def write(name, script):
    """Writes a script. Returns the line of each mark."""
    with open(name, "w", encoding="utf-8") as file:
        file.write(HEAD + script)
    return {line.split("#")[1].strip(): i + 1 for i, line in enumerate((HEAD + script).splitlines())
            if "#" in line}


def planted(dwell, number, what, fact, marks, script):
    name = f"s{number}.py"
    lines = write(name, script)
    expected = " and ".join(f"{name}:{lines[mark]}" for mark in marks.split())
    # On a busy machine the planted time may be less than half of what the fact states.
    done, facts, text = again.until(lambda found: expected in str(found[1].get(fact)),
                                    lambda: record(dwell, name))
    check(f"{what}: it runs", done.returncode == 0, done.stderr)
    check(f"{what}: {fact} is at {expected}", expected in str(facts.get(fact)), text)


def paused(dwell):
    """Steps that are not recorded are no time between two operators."""
    name = "paused.py"
    write(name, "net, optimizer = make()\nfor i in range(60): step(net, optimizer, lambda: spin(.005))\n")
    done, facts, text = record(dwell, name, "--steps", "10..12")
    row = facts.get("places.largest_longest", {})
    check("paused: it runs", done.returncode == 0, done.stderr)
    # The 57 other steps take at least 5 ms each.
    check("paused: no time covers what was not recorded",
          row.get("shown") == "not measured" or float(row["value"]) < 57 * 5e6, text)


def main():
    if not (3, 11) <= sys.version_info[:2] <= (3, 14):
        print("skip torch_places_test: lines are known for Python 3.11 to 3.14")
        return 77
    dwell = os.path.abspath(sys.argv[1])
    os.chdir(tempfile.mkdtemp(prefix="dwell-places-"))
    for i, (what, fact, marks, script) in enumerate(SCRIPTS):
        planted(dwell, i, what, fact, marks, script)
    paused(dwell)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
