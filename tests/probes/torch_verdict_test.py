#!/usr/bin/python3
"""The overview names the bottleneck first, of training loops whose bottleneck is known.

usage: torch_verdict_test.py path/to/dwell

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import json
import os
import subprocess
import sys
import tempfile

import again
import installed

TORCH = installed.need("torch")

HEAD = installed.LIGHT + """
import gc, os, time, torch, torch.nn as nn
from torch.utils.data import DataLoader, Dataset
torch.set_num_threads(1)
net = nn.Linear(64, 64)
optimizer = torch.optim.SGD(net.parameters(), lr=.001)
def step(x):
    optimizer.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss
class Slow(Dataset):
    def __len__(self): return 120
    def __getitem__(self, i):
        time.sleep(.005)
        return torch.ones(64)
"""

# verdict, what its sentence says, script
SCRIPTS = (
    ("loader-in-process", "the loop loads its batches itself", "for x in DataLoader(Slow(), 4): step(x)"),
    ("loader-slow-workers", "2 loader workers cannot keep up", """
if __name__ == "__main__":
    for x in DataLoader(Slow(), 4, num_workers=2): step(x)
"""),
    ("python", "of Python ", """
def tokenize(n): return [sum(ord(c) for c in "a sentence of words") for _ in range(n)]
for i in range(30):
    tokenize(5000)
    step(torch.ones(4, 64))
"""),
    ("evaluation", "Evaluation takes", """
held_out = torch.ones(16384, 64)
for i in range(60):
    step(torch.ones(64, 64))
    net.eval()
    with torch.no_grad():
        for k in range(4): net(held_out)
    net.train()
"""),
    ("unused-gradients", "most of them in Sequential.0", """
body = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512))
model = nn.Sequential(body, nn.Linear(512, 4))
head = torch.optim.SGD(model[1].parameters(), lr=.001)
for i in range(40):
    head.zero_grad()
    model(torch.ones(128, 64)).square().mean().backward()
    head.step()
"""),
    ("collector", "Garbage collection takes", """
keep = [{"a": [i]} for i in range(200000)]
for i in range(30):
    step(torch.ones(4, 64))
    gc.collect()
"""),
    ("small-operators", "small operators a step", """
for i in range(40):
    optimizer.zero_grad()
    y = net(torch.ones(64, 64))
    torch.stack([y[r] * 2 + 1 for r in range(64)]).sum().backward()
    optimizer.step()
"""),
    ("memory-growth", "with each step", """
total = 0
torch.set_num_threads(len(os.sched_getaffinity(0)))
wide, narrow = nn.Linear(64, 2048), nn.Linear(2048, 64) # products take the time, so that nothing precedes the growth
optimizer.add_param_group({"params": [*wide.parameters(), *narrow.parameters()]})
big, out = torch.randn(512, 512), torch.empty(512, 512)
for i in range(60):
    x = torch.randn(256, 64)
    optimizer.zero_grad()
    for _ in range(4): torch.mm(big, big, out=out) # new memory has page faults, which are no large part beside these
    loss = net(narrow(wide(x))).mean()
    total = total + loss
    loss.backward(retain_graph=True)
    optimizer.step()
"""),
    ("one-operator", "aten::mm", """
big = torch.randn(700, 700)
first, second = torch.empty_like(big), torch.empty_like(big) # new results would be page faults
torch.set_num_threads(len(os.sched_getaffinity(0))) # with fewer threads than free CPUs, that would be the first sentence
for i in range(10):
    optimizer.zero_grad()
    net(torch.ones(4, 64))
    with torch.no_grad():
        for left, out in (big, first), (first, second), (second, first): torch.mm(left, big, out=out)
    optimizer.step()
"""),
    ("one-operator", "aten::sort", """
values = torch.randn(100000)
for i in range(40): # what a closure runs before backward is no update, as in Lightning
    def closure():
        loss = net(torch.ones(4, 64)).square().mean()
        values.sort()
        loss.backward()
        return loss
    optimizer.step(closure)
"""),
    ("one-operator", "aten::sort", """
values = torch.randn(300000) # only every third step sorts: most steps are short, and their operators others
for i in range(60):
    optimizer.zero_grad()
    loss = net(torch.ones(4, 64)).square().mean()
    if i % 3 == 0: values.sort()
    loss.backward()
    optimizer.step()
"""),
    ("optimizer-dominates", "those of embeddings, as Model.items", """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.items, self.out = nn.Embedding(100000, 32), nn.Linear(32, 4)
    def forward(self, x): return self.out(self.items(x))
model = Model()
every = torch.optim.Adam(model.parameters(), foreach=True)
for i in range(40):
    every.zero_grad()
    model(torch.randint(0, 100000, (64,))).square().mean().backward()
    every.step()
"""),
    ("sleeping", "sleeps for", """
for i in range(20): # long beside the start: what waits for a CPU there counts in the whole run
    optimizer.zero_grad()
    loss = net(torch.ones(4, 64)).sum()
    time.sleep(.3)
    loss.backward()
    optimizer.step()
"""),
)
counts = {True: 0, False: 0}


def check(what, good, said=""):
    counts[bool(good)] += 1
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {said}"))


# Of a run whose steps take less than half of it.
ENDS = ("Start-up takes ", "What follows the last step takes ")
# It depends on how long steps take.
REDUCED = "Operators and layers were recorded in"


def report(dwell, trace, *options):
    return subprocess.run([dwell, "report", trace, *options], capture_output=True, text=True, check=True).stdout


def record(dwell, name, trace):
    """(the run, its verdict, the sentences above the tables of its report)."""
    done = subprocess.run([dwell, "run", "-o", trace, "--", sys.executable, name],
                          capture_output=True, text=True, check=False)
    run = json.loads(report(dwell, trace, "--format", "json"))["views"][0]
    names = [column["name"] for column in run["columns"]]
    text = [line for line in run["heads"] if not line.startswith((*ENDS, REDUCED))]
    return done, dict(zip(names, run["rows"][0]))["verdict"], text


# Calls without gradients: of another model, in training mode, and an evaluation.
CALLS = """
teacher = nn.Linear(64, 64).eval()
for i in range(9):
    step(torch.ones(64, 64))
    with torch.no_grad():
        if i < 2: teacher(torch.ones(64, 64))
        if i < 3: net(torch.ones(64, 64))
        net.eval()
        if i < 7: net(torch.ones(64, 64))
        net.train()
"""


def check_names(dwell):
    with open("calls.py", "w", encoding="utf-8") as file:
        file.write(HEAD + CALLS)
    subprocess.run([dwell, "run", "-o", "calls.dwell", "--", sys.executable, "calls.py"], check=True, capture_output=True)
    query = "select name, count(*) from ranges where category = 'evaluation' group by name order by name"
    found = subprocess.run([dwell, "query", "calls.dwell", query], check=True, capture_output=True, text=True).stdout
    check("names of calls without gradients", found.split()[-4:] == ["evaluation", "7", "inference", "5"], found)


# torch.compile is of PyTorch 2.
COMPILED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(64, 64), nn.ReLU())
        self.tail = torch.compile(self.tail_of, backend="aot_eager", dynamic=False)
    def tail_of(self, x): return self.inner(x).sin()
    def forward(self, x): return self.tail(x)
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=.001)
for i in range(70):
    optimizer.zero_grad()
    model(torch.ones(32 - i // 10, 64)).square().mean().backward()
    optimizer.step()
"""


def check_recompiled(dwell):
    """What failed, with the line, is asked of Dynamo, also where most steps have no operators."""
    script = HEAD.replace(installed.LIGHT, "") + COMPILED
    with open("compiled.py", "w", encoding="utf-8") as file:
        file.write(script)
    line = script.splitlines().index("    def tail_of(self, x): return self.inner(x).sin()") + 1
    why = (f"tail_of (compiled.py:{line}) was compiled 7 times, the last because tensor 'x' size mismatch at index 0. "
           "expected 27, actual 26")
    done, _, _ = record(dwell, "compiled.py", "compiled.dwell")
    table = json.loads(report(dwell, "compiled.dwell", "--view", "facts", "--format", "json"))["views"][0]
    facts = [row for row in table["rows"] if row[0] == "operators.compilations"]
    begun = [cell for cell in facts[0] if str(cell).startswith("tail_of") and why.startswith(cell)] # a hundred bytes of it
    check("what was compiled again, and why", done.returncode == 0 and 6 in facts[0] and "size mismatch at" in begun[0], facts)
    verdicts = json.loads(report(dwell, "compiled.dwell", "--view", "verdict", "--format", "json"))["views"][0]["heads"]
    said = [head for head in verdicts if head.startswith("Compiling again takes")]
    check("the sentence says it", all(head.endswith(f"6 times after the first steps; {why}.") for head in said), said)


def main():
    dwell = os.path.abspath(sys.argv[1])
    os.chdir(tempfile.mkdtemp(prefix="dwell-verdict-"))
    check_names(dwell)
    if not TORCH.startswith("1."):
        check_recompiled(dwell)
    for i, (verdict, sentence, script) in enumerate(SCRIPTS):
        name, trace = f"s{i}.py", f"s{i}.dwell"
        with open(name, "w", encoding="utf-8") as file:
            file.write(HEAD + script)
        # On a busy machine the verdict may be that, or the waits of threads for each other that it makes longer.
        done, got, text = again.until(lambda found: found[1] == verdict, lambda: record(dwell, name, trace))
        check(f"{verdict}: it runs", done.returncode == 0, done.stderr)
        check(f"{verdict}: the verdict", got == verdict, report(dwell, trace))
        check(f"{verdict}: its sentence is the first", len(text) > 1 and sentence in text[1], text)
        if verdict.startswith("loader-"):
            loader = report(dwell, trace, "--view", "dataloader", "--format", "csv")
            check("the dataloader view", ("worker" in loader) == ("workers" in sentence), loader)
        if verdict == "collector":
            table = json.loads(report(dwell, trace, "--view", "gc", "--format", "json"))["views"][0]
            rows = {row[0]: row[1] for row in table["rows"]}
            check("the gc view counts collections", rows.get("gc generation 2", 0) >= 30, rows)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
