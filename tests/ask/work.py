"""A training loop of known work in PyTorch, for the calibration of dwell diff.

usage: work.py [STEPS [PERCENT]]

A step computes forward and backward 20 times. With PERCENT, a multiple of 5, it does so more often.
"""
import sys

import torch

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
percent = int(sys.argv[2]) if len(sys.argv) > 2 else 0
torch.set_num_threads(1)
torch.manual_seed(1)

model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
batch = torch.randn(64, 256)
for _ in range(steps):
    optimizer.zero_grad()
    for _ in range(20 * (100 + percent) // 100):
        model(batch).square().mean().backward()
    optimizer.step()
