#!/usr/bin/python3
"""dwell's layers of PyTorch models against what the models say of themselves.

usage: torch_layers_test.py path/to/dwell

Trains a convolutional net, whose blocks share one activation, and a transformer under
`dwell run`. Every module that was called is a layer with as many calls, each with its
operators; a shared one by each of its paths. Parameters are the modules'. Layers with
parameters have a backward pass, in each of their calls. Over the tree times are those
of the operators view, to a nanosecond a row. With --layers only those are recorded.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter

import forked
import installed

TORCH = installed.need("torch")
SERVER = forked.Server(shared=True)
STEPS = 3


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, what, good):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print("FAILED:", what)


def record(dwell, folder, *options):
    result, trace = os.path.join(folder, "result.json"), os.path.join(folder, "t.dwell")
    SERVER.run(dwell, "--cost", "full", "-o", trace, *options, script=os.path.abspath(__file__), arguments=["--train", result],
               check=True)
    with open(result, encoding="utf-8") as file:
        return trace, json.load(file)


def view(dwell, trace, *options):
    done = subprocess.run([dwell, "report", trace, "--format", "json", *options], check=True,
                          capture_output=True, text=True)
    answer = json.loads(done.stdout)["views"][0]
    names = [column["name"] for column in answer["columns"]]
    return [dict(zip(names, row)) for row in answer["rows"]]


def check_all(check, dwell, folder):
    trace, models = record(dwell, folder)
    rows = view(dwell, trace, "--view", "layers", "--per-call", "--events")
    layers = {row["path"]: row for row in rows if row["kind"] == "layer"}
    calls = Counter(row["path"] for row in rows if row["kind"] == "call")
    for root, model in models.items():
        seen = {path: row["calls"] for path, row in layers.items()
                if (path + ".").startswith(root + ".") and row["calls"]}
        check(f"{root}: calls {seen} {model['calls']}", seen == model["calls"])
        for path, count in model["parameters"].items():
            if path not in layers:
                continue
            check(f"{path}: {count} parameters", layers[path]["parameters"] == count)
            # what attention does with its projection's weights is the attention's
            if count and path in seen:
                check(f"{path}: backward", layers[path]["backward_ns"] > 0)
    check("each call has a row", all(calls[path] == row["calls"] for path, row in layers.items()))
    check("each call of a convolution has a backward",
          all(row["backward_ns"] > 0 for row in rows
              if row["kind"] == "call" and row["path"].endswith(".conv")))
    check("blocks share an activation",
          all(layers[f"Net.blocks.{i}.act"]["calls"] == STEPS for i in range(2)))
    check("operators within a call", any(row["kind"] == "operator" and row["path"] == "Net.stem" and
                                         row["name"] == "aten::conv2d" and row["call"] == STEPS - 1
                                         for row in rows))
    operators = view(dwell, trace, "--view", "operators")
    whole = sum(row["self_ns"] for row in operators)
    tree = sum(row["operators_ns"] + row["backward_ns"] for row in rows if row["kind"] in ("layer", "rest"))
    check(f"the tree's {tree} ns are the operators' {whole} ns", abs(tree - whole) <= 2 * len(rows))
    within = sum(row["operators_ns"] + row["backward_ns"] for row in rows if row["kind"] == "operator")
    check(f"operators within: {within} ns", abs(within - whole) <= 2 * len(rows))
    check("memory", layers["Net.stem"]["self_bytes"] == STEPS * 6 * 4 * 64 * 4)

    trace, _ = record(dwell, folder, "--layers", "Net.blocks.*,Transformer.head")
    rows = view(dwell, trace, "--view", "layers")
    recorded = {row["path"] for row in rows if row["calls"]}
    wanted = {path for model in models.values() for path in model["calls"]
              if path.startswith("Net.blocks.") or path == "Transformer.head"}
    check(f"--layers: {recorded} {wanted}", recorded == wanted)
    listing = subprocess.run([dwell, "report", trace, "--layout", "torchprof", "--paths", "Net.blocks.0"],
                             check=True, capture_output=True, text=True).stdout
    block = next(line for line in listing.splitlines() if "── 0 " in line)
    figures = [word.strip() for word in block.split("|")]
    check(f"a block covers what is in it: {block}", figures[1] == figures[2] != "0.000us" and
          figures[-1] == str(STEPS))
    wrong = subprocess.run([dwell, "report", trace, "--layout", "torchprof", "--paths", "Net.block.0"],
                           check=False, capture_output=True, text=True)
    check(f"a wrong path: {wrong.stderr}", wrong.returncode == 2 and "did you mean 'Net.blocks.0'" in wrong.stderr)


def main():
    check = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_all(check, os.path.abspath(sys.argv[1]), folder)
    print(f"PyTorch {TORCH}: {check.passed} passed, {check.failed} failed")
    return check.failed != 0


if "--train" not in sys.argv:
    sys.exit(main() if len(sys.argv) == 2 else __doc__)

# ---- the script -----------------------------------------------------------------------------------

import torch  # noqa: E402
from torch import nn  # noqa: E402


class Block(nn.Module):
    def __init__(self, act):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1)
        self.act = act

    def forward(self, x):
        return x + self.act(self.conv(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        act = nn.ReLU()
        self.stem = nn.Conv2d(1, 4, 3, padding=1)
        self.blocks = nn.Sequential(Block(act), Block(act))
        self.head = nn.Linear(4 * 64, 5)
        self.unused = nn.Linear(2, 2)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).flatten(1))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        return self.head(self.encoder(self.embedding(x)).mean(1))


def train(result):
    torch.set_num_threads(1)
    found = {}
    for model, make in ((Net(), lambda: torch.randn(6, 1, 8, 8)),
                        (Transformer(), lambda: torch.randint(0, 11, (6, 7)))):
        root, calls = type(model).__name__, Counter()
        stack = []

        def entered(module, _, stack=stack, calls=calls, model=model, root=root):
            paths = [f"{root}.{name}" if name else root
                     for name, other in model.named_modules(remove_duplicate=False) if other is module]
            path = next((p for p in paths if stack and p.startswith(stack[-1] + ".")), paths[0])
            stack.append(path)
            calls[path] += 1

        def left(*_, stack=stack):
            stack.pop()

        for module in model.modules():
            module.register_forward_pre_hook(entered)
            module.register_forward_hook(left)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(STEPS):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(make()), torch.randint(0, 5, (6,))).backward()
            optimizer.step()
        own = {f"{root}.{name}" if name else root: sum(p.numel() for p in m.parameters(recurse=False))
               for name, m in model.named_modules()}
        found[root] = {"calls": calls, "parameters": own}
    with open(result, "w", encoding="utf-8") as file:
        file.write(json.dumps(found))


train(sys.argv[2])
