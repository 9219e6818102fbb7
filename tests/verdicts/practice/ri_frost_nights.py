"""Warns of frost in orchards: a stack of dilated convolutions over the temperatures of an evening, compiled with torch.compile.
Evenings come in the order of the year, so they become longer: from noon to dusk, a window of eight readings more every few steps.

Planted: the network is compiled for fixed shapes, so that each new length of the evening compiles it anew.
Truth: time of the first forward and backward pass of each length but the first, as a share of the loop.
"""
import contextlib

import torch
from torch import nn

from stopwatch import Stopwatch

SENSORS, WIDTH, DEPTH, BATCH, EVENINGS = 6, 48, 2, 40, 50
torch._dynamo.config.recompile_limit = 64


class Block(nn.Module):
    def __init__(self, reach):
        super().__init__()
        self.near = nn.Conv1d(WIDTH, WIDTH, 3, padding=reach, dilation=reach)
        self.norm = nn.GroupNorm(4, WIDTH)
        self.mix = nn.Conv1d(WIDTH, WIDTH, 1)

    def forward(self, air):
        return air + self.mix(torch.relu(self.norm(self.near(air))))


class Frost(nn.Module):
    def __init__(self):
        super().__init__()
        self.begin = nn.Conv1d(SENSORS, WIDTH, 1)
        self.blocks = nn.ModuleList(Block(2 ** i) for i in range(DEPTH))
        self.end = nn.Linear(WIDTH, 1)

    def forward(self, air):
        air = self.begin(air)
        for block in self.blocks:
            air = block(air)
        return self.end(air.mean(2)).squeeze(1)


def evenings(draw):
    """Batches by the time of the year; one season is as long as the next."""
    length = 240
    while True:
        for _ in range(EVENINGS):
            air = torch.randn(BATCH, SENSORS, length, generator=draw).cumsum(2) / length ** 0.5
            yield air, (air[:, 0, -8:].mean(1) < -0.5).float()
        length += 8


def main():
    torch.manual_seed(6)
    torch.set_num_threads(1)
    watch, frost = Stopwatch(), Frost()
    warn = torch.compile(frost, backend="aot_eager", dynamic=False)
    optimizer = torch.optim.SGD(frost.parameters(), lr=0.05, momentum=0.9)
    known = set()

    def learn(air, froze):
        new = air.shape[2] not in known and known
        known.add(air.shape[2])
        optimizer.zero_grad()
        with watch.planted() if new else contextlib.nullcontext():
            loss = nn.functional.binary_cross_entropy_with_logits(warn(air), froze)
            loss.backward()
        optimizer.step()
        return loss

    source = evenings(torch.Generator().manual_seed(1))
    learn(*next(source))
    with watch.loop():
        for air, froze in watch.limited(source, 6):
            loss = learn(air, froze)
            watch.step()
    print(f"loss {loss.item():.4f}, {len(known)} lengths")
    watch.tell()


main()
