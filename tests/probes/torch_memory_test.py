#!/usr/bin/python3
"""What a PyTorch program's memory is for, in bytes, of scripts that know it themselves.

usage: torch_memory_test.py path/to/dwell

Each script runs unmodified under `dwell run`, prints what it holds by category, to the byte,
and leaves by os._exit, so that this is live at the end of its trace. The last one asks
torch.profiler's memory profile about the same run.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import json
import os
import subprocess
import sys
import tempfile

import forked
import installed

TORCH = installed.need("torch")

SERVER, WHOLE = forked.Server(shared=True), forked.Server(light=False)
HEAD = """
import json, os, sys, torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(0)
torch.set_num_threads(1)

class Data(Dataset):
    def __len__(self): return 64
    def __getitem__(self, i): return torch.randn(3, 12, 12), i % 10

def model():
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(),
                         nn.Linear(800, 40), nn.ReLU(), nn.Linear(40, 10))

def size(*tensors): return sum(t.numel() * t.element_size() for t in tensors)
def state_of(optimizer):
    return size(*(t for s in optimizer.state.values() for t in s.values() if torch.is_tensor(t)))

def leave(net, optimizer=None, **more):
    holds = dict(parameter=size(*net.parameters(), *net.buffers()),
                 gradient=size(*(p.grad for p in net.parameters() if p.grad is not None)), **more)
    holds["optimizer state"] = state_of(optimizer) if optimizer else 0
    print(json.dumps(holds))
    sys.stdout.flush()
    os._exit(0)

net = model()
"""

# name, script, categories that must be larger than nothing in all
SCRIPTS = (
    ("a backward leaves gradients", """
for x, y in DataLoader(Data(), 16):
    F.cross_entropy(net(x), y).backward()
    break
leave(net, input=size(x, y))
""", ("activation", "temporary")),
    ("Adam, gradients kept over steps", """
optimizer = torch.optim.Adam(net.parameters())
for x, y in DataLoader(Data(), 16):
    optimizer.zero_grad(set_to_none=False)
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
assert state_of(optimizer) == 2 * size(*net.parameters()) + 4 * len(list(net.parameters()))
leave(net, optimizer, input=size(x, y))
""", ("activation", "temporary")),
    ("SGD with momentum, gradients made anew", """
optimizer = torch.optim.SGD(net.parameters(), lr=.01, momentum=.9)
for x, y in DataLoader(Data(), 16):
    optimizer.zero_grad(set_to_none=True)
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
assert state_of(optimizer) == size(*net.parameters())
leave(net, optimizer, input=size(x, y))
""", ("activation", "temporary")),
    ("buffers that a library keeps", """
class Library(torch.autograd.Function):
    kept = []
    def forward(context, x):
        Library.kept or Library.kept.append(torch.empty(1 << 20))
        return x + 1
    def backward(context, gradient):
        len(Library.kept) > 1 or Library.kept.append(torch.empty(1 << 20))
        return gradient
optimizer = torch.optim.SGD(net.parameters(), lr=.01)
for x, y in DataLoader(Data(), 16):
    optimizer.zero_grad()
    F.cross_entropy(Library.apply(net(x)), y).backward()
    optimizer.step()
leave(net, optimizer, input=size(x, y), activation=0)
""", ("activation", "temporary")),
    ("accumulated gradients", """
optimizer = torch.optim.Adam(net.parameters())
for i, (x, y) in enumerate(DataLoader(Data(), 8)):
    F.cross_entropy(net(x), y).backward()
    if i % 4 == 3:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
leave(net, optimizer, input=size(x, y))
""", ("activation", "gradient")),
    ("state that is made with the optimizer", """
optimizer = torch.optim.Adagrad(net.parameters(), lr=.01)
for x, y in DataLoader(Data(), 16):
    optimizer.zero_grad(set_to_none=True)
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
leave(net, optimizer, input=size(x, y))
""", ("activation",)),
    ("state from a checkpoint", """
def train(net, optimizer):
    F.cross_entropy(net(torch.randn(4, 3, 12, 12)), torch.ones(4, dtype=torch.long)).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
first = model()
old = torch.optim.Adam(first.parameters())
train(first, old)
saved = old.state_dict()
optimizer = torch.optim.Adam(net.parameters())
optimizer.load_state_dict(saved)
del first, old, saved
net(torch.randn(2, 3, 12, 12)) # names it: its buffers are known then
leave(net, optimizer)
""", ()),
    ("parameters of no module", """
w = torch.randn(100, 100, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=.1)
class Own(nn.Module):
    def parameters(self): return iter([w])
for i in range(3):
    optimizer.zero_grad(set_to_none=True)
    (w @ w).sum().backward()
    optimizer.step()
del net
leave(Own())
""", ("activation",)),
    ("inference keeps nothing", """
net.eval()
with torch.no_grad():
    for x, y in DataLoader(Data(), 16):
        net(x)
leave(net, input=size(x, y), activation=0)
""", ("activation", "input")),
)

BESIDE = """
from torch.profiler import profile, ProfilerActivity
if not hasattr(profile, "_memory_profile"):
    sys.exit(77)
from torch.profiler._memory_profiler import Action
optimizer = torch.optim.Adam(net.parameters())
loader = iter(DataLoader(Data(), 16))
def step():
    x, y = next(loader)
    optimizer.zero_grad(set_to_none=True)
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True,
             with_stack=True) as own:
    step()
    step()
live = {}
told = own._memory_profile()
for when, action, (key, version), bytes in told.timeline:
    if not hasattr(key, "id"):
        continue # no tensor's
    version += action == Action.INCREMENT_VERSION
    kind = told._categories.get(key, version)
    live[key] = [kind.name.lower().replace("_", " ") if kind else "other", bytes]
    if action == Action.DESTROY:
        del live[key]
sums = {}
for name, bytes in live.values(): sums[name] = sums.get(name, 0) + bytes
assert sums["parameter"] == size(*net.parameters()), (sums, size(*net.parameters()))
print(json.dumps({name: sums.get(name, 0) for name in ("gradient", "optimizer state")}
                 | {"parameter": sums["parameter"] + size(*net.buffers())}))
sys.stdout.flush()
os._exit(0)
"""

passed = failed = 0


def check(condition, text):
    global passed, failed
    passed += bool(condition)
    failed += not condition
    if not condition:
        print(f"FAIL {text}", file=sys.stderr)


class Ended(Exception):
    """A script ended badly."""


def run(dwell, folder, script, server=SERVER):
    """What the script prints, and the rows of its memory view by category."""
    trace, path = os.path.join(folder, "t.dwell"), os.path.join(folder, "script.py")
    with open(path, "w") as out:
        out.write(HEAD + script)
    done = server.run(dwell, "--cost", "full", "-o", trace, script=path)
    if done.returncode:
        raise Ended(done.returncode, done.stdout + done.stderr)
    text = subprocess.run([dwell, "report", "--view", "memory", "--format", "json", trace],
                          capture_output=True, text=True, check=True).stdout
    os.unlink(trace)
    view = next(v for v in json.loads(text)["views"] if v.get("part") == "categories")
    names = [column["name"] for column in view["columns"]]
    rows = [dict(zip(names, row)) for row in view["rows"]]
    return json.loads(done.stdout.splitlines()[-1]), rows, view["totals"]


def main():
    dwell = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for name, script, some in SCRIPTS:
            holds, rows, totals = run(dwell, folder, script)
            by = {row["category"]: row for row in rows}
            for category, bytes in holds.items():
                live = by.get(category, {}).get("live_bytes", 0)
                check(live == bytes, f"{name}: {category} {live}, not {bytes}")
            for category in some:
                check(by.get(category, {}).get("allocated_bytes", 0) > 0, f"{name}: no {category}")
            for column in ("peak_bytes", "live_bytes", "allocated_bytes", "allocations"):
                check(sum(row[column] for row in rows) == totals[column], f"{name}: sum of {column}")
        try:
            holds, rows, totals = run(dwell, folder, BESIDE, WHOLE)
        except Ended as ended:
            # PyTorch 1.13 has no memory profile; that of 2.6 ends with a signal on Python 3.13.
            if ended.args[0] != 77:
                alone = subprocess.run([sys.executable, "-c", HEAD + BESIDE], capture_output=True, check=False)
                check(alone.returncode < 0, f"beside torch.profiler: {ended}")
            print(f"skip torch.profiler's memory profile: PyTorch {TORCH} has none that works")
        else:
            by = {row["category"]: row for row in rows}
            for category, bytes in holds.items():
                live = by.get(category, {}).get("live_bytes", 0)
                check(live == bytes, f"beside torch.profiler: {category} {live}, there {bytes}")
    print(f"torch_memory_test: PyTorch {TORCH}: {passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
