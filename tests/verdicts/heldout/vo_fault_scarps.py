"""Finds scarps of faults on profiles of the ground: convolutions along the profile say for each of its 16 parts whether a scarp is there.

Planted: after each step the area under the curve is computed anew of all parts since the beginning, a list that only grows.
Truth: time of that, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

POINTS, PARTS, BATCH = 256, 16, 48
watch = Stopwatch()


class Curve:
    """The area under the curve of hits over false alarms."""

    def __init__(self):
        self.said, self.true = [], []

    def add(self, said, true):
        self.said.append(said.detach().flatten())
        self.true.append(true.flatten())

    def area(self):
        said, true = torch.cat(self.said), torch.cat(self.true)
        true = true[said.argsort(descending=True)]
        hits, alarms = true.cumsum(0), (1 - true).cumsum(0)
        return torch.trapezoid(hits / hits[-1], alarms / alarms[-1]).item()


class Scarps(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.start = nn.Conv1d(1, width, 9, padding=4)
        self.more = nn.ModuleList(nn.Conv1d(width, width, 5, padding=2) for _ in range(3))
        self.end = nn.Conv1d(width, 1, POINTS // PARTS, stride=POINTS // PARTS)

    def forward(self, profile):
        x = self.start(profile)
        for layer in self.more:
            x = x + torch.tanh(layer(x))
        return self.end(x).squeeze(1)


def profiles(draw, number):
    """Slopes with steps in some parts."""
    scarps = (torch.rand(number, PARTS, generator=draw) < 0.2).float()
    jumps = torch.zeros(number, POINTS)
    jumps[:, POINTS // PARTS // 2::POINTS // PARTS] = scarps
    rough = 0.12 * torch.randn(number, POINTS, generator=draw)
    return (jumps + rough).cumsum(1)[:, None] / 4, scarps


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = Scarps()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4, fused=True)
    grounds, scarps = profiles(torch.Generator().manual_seed(5), 20 * BATCH)
    batches = list(zip(grounds.split(BATCH), scarps.split(BATCH)))
    curve, area, number = Curve(), 0.0, 0
    with watch.loop():
        while watch.seconds() < 6.5:
            ground, truth = batches[number % len(batches)]
            said = model(ground)
            loss = nn.functional.binary_cross_entropy_with_logits(said, truth)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                curve.add(said, truth)
                area = curve.area()
            number += 1
            watch.step()
    print(f"area {area:.4f}")
    watch.tell()


main()
