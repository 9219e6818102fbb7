"""Grades grapes; its author once ran out of memory and calls the garbage collector since.

Planted: gc.collect() at the end of each step, with the records of a vineyard and PyTorch's own objects alive.
Truth: time of the collections, as a share of the loop.
"""
import gc

import torch
from torch import nn

from stopwatch import Stopwatch


class Vine:
    def __init__(self, number):
        self.number = number
        self.neighbours = []
        self.notes = {"row": number // 100, "place": number % 100}


def main():
    torch.manual_seed(5)
    watch = Stopwatch()
    vineyard = [Vine(number) for number in range(8000)]
    for vine in vineyard:
        vine.neighbours = vineyard[max(0, vine.number - 1):vine.number + 2]
    model = nn.Sequential(nn.Conv2d(3, 32, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 48, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                          nn.Flatten(), nn.Linear(48, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    grapes, grades = torch.rand(384, 3, 48, 48), torch.randint(0, 6, (384,))
    with watch.loop():
        for number in range(100000):
            at = number * 96 % 384
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(grapes[at:at + 96]), grades[at:at + 96]).backward()
            optimizer.step()
            with watch.planted():
                gc.collect()
            watch.step()
            if watch.seconds() > 8:
                break
    watch.tell()
    assert len(vineyard) == 8000


if __name__ == "__main__":
    main()
