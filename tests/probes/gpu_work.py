#!/usr/bin/env python3
"""Work for a GPU, for tools/gpu_check: a small ResNet's training steps, and what goes wrong.

usage: gpu_work.py steps | timed | timed-profiler | profiler FILE | fault | fork | graph
"""
import os
import statistics
import sys
import time

import torch
from torch import nn

STEPS, BATCH = 10, 32


class Block(nn.Module):
    """A bottleneck block of a ResNet."""

    def __init__(self, inputs, width, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.skip = nn.Identity() if inputs == outputs and stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, values):
        return torch.relu(self.body(values) + self.skip(values))


def resnet(counts=(3, 4, 6, 3)):
    """ResNet-50 with these numbers of blocks."""
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, count in enumerate(counts):
        for block in range(count):
            layers.append(Block(inputs, 64 << stage, 256 << stage, 2 if block == 0 and stage else 1))
            inputs = 256 << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 100))


class Work:
    """Training steps of ResNet-50 on made-up pictures."""

    def __init__(self):
        torch.manual_seed(1)
        # The choice of convolution algorithms must be the same in each run.
        torch.backends.cudnn.benchmark = False
        torch.backends.cudnn.deterministic = True
        self.model = resnet().cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.pictures = torch.randn(BATCH, 3, 128, 128).pin_memory()
        self.labels = torch.randint(0, 100, (BATCH,)).pin_memory()

    def step(self):
        loss = nn.functional.cross_entropy(self.model(self.pictures.cuda(non_blocking=True)),
                                           self.labels.cuda(non_blocking=True))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


def timed(steps=60):
    work, times = Work(), []
    for _ in range(15):
        work.step()
    for _ in range(steps):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work.step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    print(f"median step: {1e3 * statistics.median(times):.4f} ms")


def profiled(function, path=None):
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        function()
        torch.cuda.synchronize()
    if path:
        profiler.export_chrome_trace(path)


def steps():
    work = Work()
    for _ in range(STEPS):
        work.step()
    torch.cuda.synchronize()


def fault():
    values = torch.randn(1000, device="cuda")
    (values @ values).item()
    try:
        values[torch.tensor([10 ** 6], device="cuda")].sum().item()
        torch.cuda.synchronize()
        print("no fault")
    except RuntimeError as error:
        print("caught", type(error).__name__)
    sys.stdout.flush()


def fork():
    torch.randn(10, device="cuda").sum().item()
    child = os.fork()
    if child == 0:
        sys.exit(0)
    print("child", os.waitpid(child, 0)[1])
    torch.randn(10, device="cuda").sum().item()


def graph():
    values = torch.randn(256, 256, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        values @ values
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        result = torch.relu(values @ values) + 1
    for _ in range(10):
        captured.replay()
    torch.cuda.synchronize()
    print(result.sum().item())


if __name__ == "__main__":
    what = sys.argv[1]
    if what == "profiler":
        profiled(steps, sys.argv[2])
    elif what == "timed-profiler":
        profiled(timed)
    else:
        {"steps": steps, "timed": timed, "fault": fault, "fork": fork, "graph": graph}[what]()
