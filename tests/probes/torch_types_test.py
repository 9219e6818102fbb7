#!/usr/bin/python3
"""Which operators compute in 64-bit floating point, without --shapes.

usage: torch_types_test.py path/to/dwell

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import os
import subprocess
import sys
import tempfile

import forked
import installed

TORCH = installed.need("torch")
SERVER = forked.Server(shared=True)

TRAIN = """
import os
import torch

def train(type, steps, fork=False, other=None, small=0):
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).to(type)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for i in range(steps):
        optimizer.zero_grad()
        if other is not None:
            torch.addmm(other, other, other)
        loss = model(torch.ones(32, 64, dtype=type)).sum() * 2.0
        if fork and os.fork() == 0:
            torch.ones(8, dtype=type).sum()
            os._exit(0)
        for _ in range(small):
            loss = loss + 1.0
        loss.backward()
        optimizer.step()

torch.set_num_threads(1)
"""
# What is trained; whether aten::addmm computes in 64 bits, or None: that is not known. Where there are many small operators,
# they are recorded in few of the steps.
CASES = [
    ("64 bits", "train(torch.float64, 20)", True),
    ("32 bits", "train(torch.float32, 20)", False),
    ("64 bits after 32", "train(torch.float32, 20); train(torch.float64, 80)", True),
    ("32 bits after 64", "train(torch.float64, 20); train(torch.float32, 80)", False),
    ("64 bits, with a child of each step", "train(torch.float64, 8, fork=True)", True),
    ("a large product in 64 bits", "train(torch.float32, 20, other=torch.ones(512, 512, dtype=torch.float64))", "most"),
    ("two steps", "train(torch.float64, 2)", None),
    ("64 bits, recorded in few steps", "train(torch.float64, 60, small=3000)", True),
]


def main():
    dwell, failures = os.path.abspath(sys.argv[1]), 0
    with tempfile.TemporaryDirectory() as folder:
        trace, script = os.path.join(folder, "t.dwell"), os.path.join(folder, "train.py")
        for name, calls, wanted in CASES:
            with open(script, "w", encoding="utf-8") as file:
                file.write(TRAIN + calls)
            done = SERVER.run(dwell, *([] if "small" in calls else ["--cost", "full"]), "-o", trace, script=script)
            info = subprocess.run([dwell, "info", trace], capture_output=True, text=True, check=True).stdout
            noted = [line.split("=", 1)[1].split() for line in info.splitlines() if "torch.float64" in line]
            found = "aten::addmm=100" in noted[0] if noted else None
            if wanted == "most":
                found = next((float(item.split("=")[1]) > 95 for item in noted[0] if item.startswith("aten::addmm=")), None)
                wanted = True
            passed = done.returncode == 0 and found == wanted and (found or noted in ([], [["none"]]))
            failures += not passed
            print(f"{'ok  ' if passed else 'FAIL'} {name}: {noted[0][:6] if noted else 'not noted'}{done.stderr[-400:] if not passed else ''}")
    print(f"PyTorch {TORCH}: {'failed' if failures else 'all passed'}")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main())
