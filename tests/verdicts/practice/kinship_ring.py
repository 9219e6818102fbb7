"""Learns from family relations; the relations of a batch are objects that know each other.

Planted: each step makes thousands of objects in cycles, and half a million others live all the time, so that the collector runs.
Truth: time of the collector, by its own callbacks, as a share of the loop.
"""
import gc
import time

import torch
from torch import nn

from stopwatch import Stopwatch


class Person:
    def __init__(self, name):
        self.name, self.kin = name, []


def families(count):
    made = []
    for at in range(count):
        parent, child = Person(at), Person(-at)
        parent.kin.append(child)
        child.kin.append(parent)
        made.append(parent)
    return made


def main():
    torch.manual_seed(23)
    torch.set_num_threads(1)
    village = families(120000)
    model = nn.Sequential(nn.Linear(400, 800), nn.ReLU(), nn.Linear(800, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    facts, watch, began = torch.rand(256, 400), Stopwatch(), [0.0]

    def on_collection(phase, _):
        if phase == "start":
            began[0] = time.perf_counter()
        elif watch.began:
            watch.planted_s += time.perf_counter() - began[0]

    gc.collect()
    gc.set_threshold(700, 5, 2)
    gc.callbacks.append(on_collection)
    with watch.loop():
        while watch.seconds() < 5:
            batch = families(600)
            loss = model(facts).logsumexp(1).mean() + len(batch[0].kin)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    gc.callbacks.clear()
    print(len(village))
    watch.tell()


if __name__ == "__main__":
    main()
