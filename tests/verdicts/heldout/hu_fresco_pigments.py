"""Tells the pigments of a fresco from spectra along its scan lines: inference with a compiled network, a fresco wall by wall.

Planted: the network is compiled for fixed shapes, and each wall's scan lines have a length of their own, so it is compiled anew for each.
Truth: time of the first call of each wall less that of the wall's median call, of the loop.
"""
import statistics
import time

import torch
import torch._dynamo
from torch import nn

from stopwatch import Stopwatch

BANDS, WIDTH, PIGMENTS, LINES = 24, 96, 14, 16


class Blend(nn.Module):
    def __init__(self, reach):
        super().__init__()
        self.near = nn.Conv1d(WIDTH, WIDTH, 2 * reach + 1, padding=reach, groups=WIDTH)
        self.mix, self.norm = nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, line):
        near = self.near(line.transpose(1, 2)).transpose(1, 2)
        return line + torch.tanh(self.mix(self.norm(near)))


class Pigments(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Linear(BANDS, WIDTH)
        self.blends = nn.ModuleList(Blend(reach) for reach in (1, 2, 3, 2, 1))
        self.tell = nn.Linear(WIDTH, PIGMENTS)

    def forward(self, line):
        line = self.lift(line)
        for blend in self.blends:
            line = blend(line)
        return self.tell(line).softmax(-1)


def walls():
    """Lengths of scan lines, hardly two alike."""
    number = 0
    while True:
        yield 130 + number * 7 % 40
        number += 1


def main():
    torch.manual_seed(14)
    torch.set_num_threads(1)
    torch._dynamo.config.recompile_limit = 256
    model = Pigments().eval()
    fast = torch.compile(model, backend="aot_eager", dynamic=False)
    watch, census = Stopwatch(), torch.zeros(PIGMENTS)
    with torch.no_grad():
        fast(torch.randn(LINES, 128, BANDS))
    with watch.loop(), torch.no_grad():
        for length in walls():
            wall, calls = torch.rand(4, LINES, length, BANDS), []
            for part in range(48):
                began = time.perf_counter()
                census += fast(wall[part % 4]).sum((0, 1))
                calls.append(time.perf_counter() - began)
                watch.step()
            watch.planted_s += calls[0] - statistics.median(calls)
            if watch.seconds() > 6:
                break
    print(f"most of pigment {census.argmax().item()}")
    watch.tell()


main()
