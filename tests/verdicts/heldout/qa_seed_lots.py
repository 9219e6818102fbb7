"""Tells from a seed's measures whether its lot will sprout; each lot keeps its notes as objects of Python.

Planted: after each step a helper calls gc.collect() "to free memory", which visits all notes of all lots.
Truth: time in gc.collect(), of the loop.
"""
import gc

import torch
from torch import nn

from stopwatch import Stopwatch


class Note:
    def __init__(self, lot, day):
        self.lot, self.day, self.remarks = lot, day, ["dry", day % 7]


class Lot:
    def __init__(self, number, generator):
        self.number = number
        self.notes = [Note(self, day) for day in range(6)]
        self.measures = torch.randn(9, 200, generator=generator)
        self.sprouts = float(self.measures[2].mean() > 0)


class Sprout(nn.Module):
    def __init__(self):
        super().__init__()
        self.scan = nn.Sequential(nn.Conv1d(9, 128, 5, padding=2), nn.ReLU(), nn.Conv1d(128, 128, 5, padding=2), nn.ReLU())
        self.tell = nn.Linear(128, 1)

    def forward(self, measures):
        return self.tell(self.scan(measures).mean(2)).squeeze(1)


watch = Stopwatch()


def free_memory():
    with watch.planted():
        gc.collect()


def train_one(model, optimizer, lots):
    measures = torch.stack([lot.measures for lot in lots])
    sprouts = torch.tensor([lot.sprouts for lot in lots])
    loss = nn.functional.binary_cross_entropy_with_logits(model(measures), sprouts)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(6)
    torch.set_num_threads(1)  # the other core is for the barn's camera
    generator = torch.Generator().manual_seed(6)
    lots = [Lot(number, generator) for number in range(1400)]
    model = Sprout()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    with watch.loop():
        at = 0
        while watch.seconds() < 6.5:
            train_one(model, optimizer, [lots[(at + i) % len(lots)] for i in range(150)])
            at += 150
            free_memory()
            watch.step()
    watch.tell()


main()
