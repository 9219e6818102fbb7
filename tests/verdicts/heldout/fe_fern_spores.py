"""Learns how likely a spore of a fern is: a flow of six coupling layers turns measurements into noise, both ways known.

Clean: nothing is planted; the batches are in memory, of one size, and the optimizer is fused.
Truth: nothing comes near a cause, 0.
"""
import math

import torch
from torch import nn

from stopwatch import Stopwatch

MEASURES, HIDDEN, BATCH = 64, 256, 384


class Coupling(nn.Module):
    def __init__(self, flipped):
        super().__init__()
        self.flipped = flipped
        self.net = nn.Sequential(nn.Linear(MEASURES // 2, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                                 nn.Linear(HIDDEN, MEASURES))

    def forward(self, x):
        kept, turned = x.chunk(2, 1) if not self.flipped else reversed(x.chunk(2, 1))
        scale, shift = self.net(kept).chunk(2, 1)
        scale = torch.tanh(scale)
        turned = turned * scale.exp() + shift
        return torch.cat((turned, kept) if self.flipped else (kept, turned), 1), scale.sum(1)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.couplings = nn.ModuleList(Coupling(bool(n % 2)) for n in range(6))

    def forward(self, x):
        volume = 0.0
        for coupling in self.couplings:
            x, more = coupling(x)
            volume = volume + more
        return 0.5 * x.square().sum(1) + 0.5 * MEASURES * math.log(2 * math.pi) - volume


def main():
    torch.manual_seed(21)
    torch.set_num_threads(1)
    watch, flow = Stopwatch(), Flow()
    optimizer = torch.optim.Adam(flow.parameters(), lr=2e-4, fused=True)
    bend = torch.randn(MEASURES, MEASURES) / 8
    spores = torch.tanh(torch.randn(25, BATCH, MEASURES) @ bend) + 0.2 * torch.randn(25, BATCH, MEASURES)
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            loss = flow(spores[number % 25]).mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"surprise {loss.item():.3f}")
    watch.tell()


main()
