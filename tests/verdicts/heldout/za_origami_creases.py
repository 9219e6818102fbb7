"""Tells which animal a crease pattern folds into: a network over the ends of creases learns from sheets that lie as they fell.

Planted: each sheet of a batch is turned, mirrored and jittered on its own, with a dozen operators on a few numbers each.
Truth: time of making the batches, of the loop.
"""
import math

import torch
from torch import nn

from stopwatch import Stopwatch

ANIMALS, CREASES, BATCH = 12, 30, 80


class Pile:
    """Sheets of paper, dealt out in batches and thrown on the table at random."""

    def __init__(self, size):
        shapes = torch.rand(ANIMALS, CREASES, 4) - 0.5
        self.animal = torch.randint(ANIMALS, (size,))
        self.sheets = shapes[self.animal] + 0.03 * torch.randn(size, CREASES, 4)

    def throw(self, sheet):
        angle = torch.rand(()) * 2 * math.pi
        turn = torch.stack([torch.stack([angle.cos(), -angle.sin()]), torch.stack([angle.sin(), angle.cos()])])
        ends = sheet.view(CREASES, 2, 2) @ turn
        if torch.rand(()) < 0.5:
            ends = ends.flip(-1)
        ends = ends + 0.02 * torch.randn(ends.shape)
        return (ends - ends.mean((0, 1))).flatten()

    def deal(self):
        chosen = torch.randint(len(self.sheets), (BATCH,))
        return torch.stack([self.throw(self.sheets[number]) for number in chosen]), self.animal[chosen]


def main():
    torch.manual_seed(40)
    torch.set_num_threads(1)
    watch, pile = Stopwatch(), Pile(4000)
    folder = nn.Sequential(nn.Linear(CREASES * 4, 1024), nn.GELU(), nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, ANIMALS))
    optimizer = torch.optim.SGD(folder.parameters(), lr=0.01, momentum=0.9, fused=True)
    with watch.loop():
        for _ in watch.limited(range(100000), 6):
            with watch.planted():
                sheets, animals = pile.deal()
            loss = nn.functional.cross_entropy(folder(sheets), animals)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
