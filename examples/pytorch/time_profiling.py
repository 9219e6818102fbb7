"""SINGA's time profiling of ResNet-18 in PyTorch.

    python3 time_profiling.py [VERBOSITY [ITERATIONS]]      2 and 10 without

Prints what the iterations after the first 5 took on average: 1 forward and backward, 2 each
operation.
"""
import sys

import torch
from torch.nn import functional

from dwell.singa import device
from resnet import ResNet

verbosity = int(sys.argv[1]) if len(sys.argv) > 1 else 2
iterations = int(sys.argv[2]) if len(sys.argv) > 2 else 10

dev = device.create_cpu_device()
dev.SetVerbosity(verbosity)
dev.SetSkipIteration(5)

torch.manual_seed(1)
model = ResNet()
optimizer = torch.optim.SGD(model.parameters(), lr=.01, momentum=.9)
images, labels = torch.randn(10, 1, 28, 28), torch.arange(10)
for _ in range(iterations):
    optimizer.zero_grad()
    functional.cross_entropy(model(images), labels).backward()
    optimizer.step()

dev.PrintTimeProfiling()
