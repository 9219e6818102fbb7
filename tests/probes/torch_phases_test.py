#!/usr/bin/python3
"""What phases say besides their names: which optimizer updates, and that a module has no parameters; and what ended steps.

usage: torch_phases_test.py path/to/dwell

Each script's phases are counted by name and detail, with a reader that shares no code with dwell's.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import collections
import os
import struct
import sys
import tempfile

import forked
import installed

TORCH = installed.need("torch")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import second_reader  # noqa: E402

PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")
SERVER = forked.Server(env={**os.environ, "PYTHONPATH": PACKAGE})
HEAD = """
import torch
from torch import nn

torch.set_num_threads(1)
loss_of = nn.MSELoss()

def net():
    return nn.Linear(4, 4)

def learn(model, optimizer, x=torch.ones(2, 4)):
    optimizer.zero_grad()
    loss_of(model(x), x).backward()
    optimizer.step()
"""
FIRST = {"forward": 10, "forward: no parameters": 10, "backward": 10, "optimizer": 10, "optimizer: zero_grad": 10}
# A script; how often each phase begins.
CASES = [
    ("one optimizer", """
model = net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(10):
    learn(model, optimizer)
""", FIRST),
    ("two optimizers, one of them in each second iteration", """
first, second = net(), net()
optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in (first, second)]
for i in range(10):
    learn(first, optimizers[0])
    if i % 2:
        learn(second, optimizers[1])
""", {**FIRST, "forward": 15, "forward: no parameters": 15, "backward": 15, "optimizer: 2": 5, "optimizer: zero_grad": 15}),
    ("an optimizer that replaces one has its number", """
import gc
for i in range(10):
    model = net()
    learn(model, torch.optim.SGD(model.parameters(), lr=0.1))
    gc.collect()
""", FIRST),
    ("a closure", """
model = net()
optimizers = [torch.optim.SGD(net().parameters(), lr=0.1), torch.optim.SGD(model.parameters(), lr=0.1)]
def closure():
    optimizers[1].zero_grad()
    loss = loss_of(model(torch.ones(2, 4)), torch.ones(2, 4))
    loss.backward()
    return loss
for i in range(10):
    optimizers[1].step(closure)
""", {"forward": 10, "forward: no parameters": 10, "backward": 10, "optimizer: 2": 10, "optimizer: zero_grad": 10}),
    ("closures that do nothing, as Lightning's where it does not optimize", """
import functools
def do_nothing_closure():
    return None
models = [net(), net()]
optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in models]
closures = [do_nothing_closure, functools.partial(lambda closure: closure(), do_nothing_closure)]
for i in range(10):
    for model, optimizer, closure in zip(models, optimizers, closures):
        optimizer.zero_grad()
        loss_of(model(torch.ones(2, 4)), torch.ones(2, 4)).backward()
        optimizer.step(closure)
""", {**{phase: 2 * times for phase, times in FIRST.items()}, "optimizer": 10, "optimizer: 2": 10}),
    ("steps that the program marks later", """
import dwell
model = net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(10):
    if i > 4:
        dwell.step()
    learn(model, optimizer)
""", FIRST),
    ("an evaluation with a loss", """
model = net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(10):
    learn(model, optimizer)
    model.eval(), loss_of.eval()
    with torch.no_grad():
        loss_of(model(torch.ones(2, 4)), torch.ones(2, 4))
    model.train(), loss_of.train()
""", {**FIRST, "evaluation": 10, "evaluation: no parameters": 10}),
    ("a policy that acts", """
policy, choose = net(), nn.Softmax(-1)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
for i in range(10):
    with torch.no_grad():
        choose(policy(torch.ones(2, 4)))
    learn(policy, optimizer)
""", {**FIRST, "inference": 10, "inference: no parameters": 10}),
]


def details(path):
    """id of a range's name -> (name, detail); how many steps ended with what. Read anew, because the reader leaves these out."""
    found, ends, data = {}, collections.Counter(), open(path, "rb").read()
    trace = second_reader.Trace(path)
    for block in range(second_reader.BLOCK, len(data), second_reader.BLOCK):
        chunk = data[block:block + second_reader.BLOCK]
        if len(chunk) < 64 or struct.unpack_from("<II", chunk) != (0x48435744, 2):
            continue
        for what, id, aux, body in second_reader.entries(chunk):
            if what == 12 and not aux & 2:
                ends[f"step: kind {aux >> 8 & 7} of optimizer {(aux >> 16 & 15) + 1}"] += 1
            if what == 4:
                name, detail = (trace.strings.get(number, b"").decode() for number in struct.unpack_from("<II", body))
                found[id] = f"{name}: {detail}" if detail else name
    return trace, found, ends


def count(path, names):
    """How often ranges of phases and evaluations begin."""
    trace, found, counts = details(path)
    for chunks in trace.streams.values():
        for chunk, limit, base, _ in chunks.values():
            for _, kind, id, _ in second_reader.records(chunk, limit, base):
                if kind == 0 and found.get(id, "").split(":")[0] in names:
                    counts[found[id]] += 1
    return dict(counts)


def main():
    dwell, failures = os.path.abspath(sys.argv[1]), 0
    with tempfile.TemporaryDirectory() as folder:
        trace, path = os.path.join(folder, "t.dwell"), os.path.join(folder, "train.py")
        for name, script, wanted in CASES:
            with open(path, "w", encoding="utf-8") as file:
                file.write(HEAD + script)
            SERVER.run(dwell, "-o", trace, script=path, check=True)
            counts = count(trace, {phase.split(":")[0] for phase in wanted})
            marked = {"step: kind 0 of optimizer 1": 5} if "dwell.step" in script else {}
            wanted = {**wanted, **marked, **{f"step: kind 5 of optimizer {phase[11:] or 1}": times - sum(marked.values())
                                             for phase, times in wanted.items() if phase.startswith("optimizer") and "zero" not in phase}}
            failures += counts != wanted
            print(("ok  " if counts == wanted else "FAIL"), f"{name}: {counts}" + ("" if counts == wanted else f", not {wanted}"))
    print(f"PyTorch {TORCH}: {failures} failed" if failures else f"PyTorch {TORCH}: all passed")
    return failures > 0


sys.exit(main())
