"""Predicts delays of ferries with features that Python computes from the timetable.

Planted: nested Python loops make the features of each batch between the steps' operators.
Truth: time of making the features, as a share of the loop.
"""
import math
import random

import torch
from torch import nn

from stopwatch import Stopwatch

HARBOURS = 24


def features_of(crossing, timetable):
    start, end, minute = crossing
    nearby = [0.0] * HARBOURS
    for harbour, departure in timetable:
        gap = abs(departure - minute)
        if gap < 240 and harbour != start:
            nearby[harbour] += math.exp(-gap / 60)
    return nearby + [start / HARBOURS, end / HARBOURS, minute / 1440]


def main():
    random.seed(4)
    torch.manual_seed(4)
    watch = Stopwatch()
    timetable = [(random.randrange(HARBOURS), random.randrange(1440)) for _ in range(1000)]
    model = nn.Sequential(nn.Linear(HARBOURS + 3, 1500), nn.ReLU(), nn.Linear(1500, 1500), nn.ReLU(), nn.Linear(1500, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    with watch.loop():
        while watch.seconds() < 5:
            with watch.planted():
                rows = [features_of((random.randrange(HARBOURS), random.randrange(HARBOURS), random.randrange(1440)), timetable)
                        for _ in range(256)]
            delays = torch.rand(256, 1)
            optimizer.zero_grad()
            nn.functional.l1_loss(model(torch.tensor(rows)), delays).backward()
            optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
