"""Knows corals by the colours of a reef's patches: the patches are whitened, then a network with a bottleneck learns their kinds.

Planted: the whitening layer takes the constant covariance of the reef apart anew in each forward pass (eigh).
Truth: time of taking the covariance apart, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

COLOURS, CORALS, PATCHES = 240, 20, 192


class Whiten(nn.Module):
    def __init__(self, patches, watch):
        super().__init__()
        self.watch = watch
        self.register_buffer("middle", patches.mean(0))
        self.register_buffer("spread", torch.cov(patches.T))

    @torch.no_grad()
    def root(self):
        with self.watch.planted():
            values, axes = torch.linalg.eigh(self.spread)
        return axes * values.clamp(min=1e-4).rsqrt()

    def forward(self, patches):
        return (patches - self.middle) @ self.root()


class Diver(nn.Module):
    def __init__(self, patches, watch):
        super().__init__()
        self.whiten = Whiten(patches, watch)
        self.first = nn.Linear(COLOURS, 768)
        self.narrow = nn.Linear(768, 96)
        self.wide = nn.Linear(96, 768)
        self.kind = nn.Linear(768, CORALS)

    def forward(self, patches):
        sight = torch.relu(self.first(self.whiten(patches)))
        return self.kind(torch.relu(sight + self.wide(torch.relu(self.narrow(sight)))))


def reef(count):
    kinds = torch.randint(CORALS, (count,))
    tones = torch.randn(CORALS, COLOURS)
    blur = torch.randn(COLOURS, COLOURS) / COLOURS ** 0.5
    return (tones[kinds] + 2 * torch.randn(count, COLOURS)) @ blur, kinds


def main():
    torch.manual_seed(37)
    torch.set_num_threads(1)
    watch = Stopwatch()
    patches, kinds = reef(12 * PATCHES)
    diver = Diver(patches, watch)
    optimizer = torch.optim.SGD(diver.parameters(), lr=0.05)
    with watch.loop():
        for dive in watch.limited(range(100000), 6):
            at = slice(dive % 12 * PATCHES, (dive % 12 + 1) * PATCHES)
            loss = nn.functional.cross_entropy(diver(patches[at]), kinds[at])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
