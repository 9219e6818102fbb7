#!/usr/bin/python3
"""How much of a loader's batch is padding, and what is said of it.

usage: torch_padding_test.py path/to/dwell

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import os
import re
import subprocess
import sys
import tempfile

import forked
import installed

TORCH = installed.need("torch")
SERVER = forked.Server(shared=True)

TRAIN = """
import torch

class Marked(torch.Tensor):
    pass

def padded(batch):
    tokens = torch.zeros(len(batch), 64, dtype=torch.long)
    for row, length in enumerate(batch):
        tokens[row, :length] = torch.arange(1, length + 1)
    return tokens

def vectors(batch):
    return torch.ones(len(batch), 64, 4) * (padded(batch) > 0).unsqueeze(-1)

class Counted(torch.overrides.TorchFunctionMode):
    calls = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        Counted.calls += function is torch.Tensor.data_ptr or function is torch.Tensor.element_size
        return function(*args, **(kwargs or {}))

before = 0

class Rows(torch.utils.data.Dataset):
    def __len__(self): return 12
    def __getitem__(self, i): return padded([[4, 12, 8, 8][i % 4]])[0]

def batches(collate, count=3):
    return torch.utils.data.DataLoader([4, 12, 8, 8] * count, batch_size=4, collate_fn=collate)

def train():
    model = torch.nn.Sequential(torch.nn.Embedding(65, 32), torch.nn.Linear(32, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 32))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for tokens in batches(padded, 60):
        optimizer.zero_grad()
        model(tokens).sum().backward()
        optimizer.step()

torch.set_num_threads(1)
"""
# What the loop's batches are; the padding in percent and the longest row, or None: none is said.
CASES = [
    ("rows of tokens", "for x in batches(padded): pass", (32, 12, 64)),
    ("in a dictionary in a tuple", "for x in batches(lambda b: ({'ids': padded(b), 'names': ['a']}, torch.ones(4))): pass", (32, 12, 64)),
    ("sequences of vectors", "for x in batches(vectors): pass", (32, 12, 64)),
    ("vectors that lie across", "for x in batches(lambda b: vectors(b).transpose(1, 2).contiguous()): pass", (32, 12, 64)),
    ("rows that the dataset makes", "for x in torch.utils.data.DataLoader(Rows(), batch_size=4): pass", (32, 12, 64)),
    ("rows that no loader makes", "model = torch.nn.Embedding(65, 8)\nfor i in range(3): model(padded([4, 12, 8, 8]))", (32, 12, 64)),
    ("rows without padding", "for x in batches(lambda b: torch.arange(4 * 64).view(4, 64)): pass", (0, 0, 0)),
    ("one value twice in a row's middle", "for x in batches(lambda b: torch.tensor([[1, 1, 2, 2, 3]] * 4)): pass", (0, 0, 0)),
    ("a mask", "for x in batches(lambda b: padded(b) > 0): pass", (0, 0, 0)),
    ("a mask of padding at the begin", "for x in batches(lambda b: (padded(b) > 0).flip(1)): pass", (0, 0, 0)),
    ("a mask of ones", "for x in batches(lambda b: torch.ones(4, 64, dtype=torch.long)): pass", (0, 0, 0)),
    ("labels of 0 and 1", "for x in batches(lambda b: (torch.rand(4, 3, 8, 8), torch.eye(80, dtype=torch.long)[[2, 9, 4, 7]])): pass", (0, 0, 0)),
    ("dark pictures", "for x in batches(lambda b: torch.nn.functional.pad(torch.rand(4, 8, 8), (4, 4, 4, 4))): pass", (0, 0, 0)),
    ("images", "for x in batches(lambda b: torch.rand(4, 3, 8, 8)): pass", (0, 0, 0)),
    ("a subclass of a tensor", "for x in batches(lambda b: padded(b).as_subclass(Marked)): pass", (0, 0, 0)),
    ("a mode that gets calls", "with Counted():\n    for x in batches(padded): pass\nassert Counted.calls == before, Counted.calls", (0, 0, 0)),
    ("calls that are traced", "model = torch.nn.Embedding(65, 8)\ntraced = [len(list(torch.jit.trace(model, padded([4, 12])).inlined_graph.nodes()))"
     " for i in range(9)]\nassert len(set(traced)) == 1", None),
    ("no memory", "for x in batches(lambda b: padded(b).to('meta')): pass", (0, 0, 0)),
    ("no batch of tensors", "for x in batches(list): pass", (0, 0, 0)),
    ("one batch", "for x in batches(padded, 1): pass", None),
]


def main():
    dwell, failures = os.path.abspath(sys.argv[1]), 0

    def check(name, passed, *more):
        nonlocal failures
        failures += not passed
        print(f"{'ok  ' if passed else 'FAIL'} {name}", *more if not passed else "")

    with tempfile.TemporaryDirectory() as folder:
        trace, script = os.path.join(folder, "t.dwell"), os.path.join(folder, "train.py")

        def record(calls):
            with open(script, "w", encoding="utf-8") as file:
                file.write(TRAIN + calls)
            return SERVER.run(dwell, "-o", trace, script=script)

        for name, calls, wanted in CASES:
            done = record(calls)
            info = subprocess.run([dwell, "info", trace], capture_output=True, text=True, check=True).stdout
            found = re.search(r"torch\.padding = (\d+) (\d+) (\d+) (\d+)(.*)", info)
            numbers = tuple(int(number) for number in found.groups()[:4]) if found else None
            if wanted and wanted[0]:
                good = numbers == (4 * 64 - wanted[0], 4 * 64, *wanted[1:]) and ("(train.py:" in found[5]) == ("no loader" not in name)
            else:
                good = numbers == ((0, 0, 0, 0) if wanted else None)
            check(name, done.returncode == 0 and good, numbers, done.stderr[-400:])
        record("train()")
        text = " ".join(subprocess.run([dwell, "report", trace], capture_output=True, text=True, check=True).stdout.split())
        check("what is said", re.search(r"Computing with padding (?:may )?takes? \d+% of the loop: 88% of a batch, which padded \(train\.py:\d+\) "
                                        r"makes, is one value at the ends of rows, and the longest row uses 19% of its places", text), text)
    print(f"PyTorch {TORCH}: {'failed' if failures else 'all passed'}")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main())
