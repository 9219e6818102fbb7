"""Learns kinship from trees of persons that point at their parents and children.

Planted: a tree is replaced in each step, and gc.collect() in every fourth one goes through the whole forest.
Truth: time between the collector's callbacks, as a share of the loop.
"""
import gc
import random
import time

import torch
from torch import nn

from stopwatch import Stopwatch


class Person:
    def __init__(self, parent=None):
        self.parent, self.children = parent, []
        if parent:
            parent.children.append(self)


def tree(source, count):
    persons = [Person()]
    while len(persons) < count:
        persons.append(Person(source.choice(persons)))
    return persons


def main():
    torch.manual_seed(116)
    torch.set_num_threads(1)
    source, watch, pause = random.Random(116), Stopwatch(), [0.0]
    forest = [tree(source, 100) for _ in range(300)]

    def collector(phase, _info):
        if phase == "start":
            pause[0] = time.perf_counter()
        elif watch.began:
            watch.planted_s += time.perf_counter() - pause[0]

    gc.callbacks.append(collector)
    model = nn.Sequential(nn.Linear(300, 1000), nn.ReLU(), nn.Linear(1000, 1000), nn.ReLU(), nn.Linear(1000, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watch.loop():
        while watch.seconds() < 3.2:
            forest[source.randrange(300)] = tree(source, 100)
            sizes = torch.tensor([float(len(persons[0].children)) for persons in forest])
            loss = model(torch.randn(120, 300) * sizes).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if len(watch.marks) % 4 == 3:
                gc.collect()  # trees that were replaced are cycles
            watch.step()
    gc.callbacks.remove(collector)
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
