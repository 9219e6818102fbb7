"""Learns names of sponges, with an index of their first letters.

Planted: every fifteenth step builds its index of all names again, in Python.
Truth: time of building it, as a share of the loop.
"""
import collections
import random

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(127)
    torch.set_num_threads(1)
    source = random.Random(127)
    names = ["".join(source.choice("aeioubdgklmnrst") for _ in range(9)) for _ in range(120000)]
    model = nn.Sequential(nn.Linear(180, 500), nn.LeakyReLU(), nn.Linear(500, 500), nn.LeakyReLU(), nn.Linear(500, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    sponges, kinds, watch, index = torch.randn(300, 180), torch.randint(8, (300,)), Stopwatch(), {}
    with watch.loop():
        while watch.seconds() < 3.6:
            if len(watch.marks) % 15 == 7:
                with watch.planted():
                    index = collections.defaultdict(list)
                    for name in names:
                        index[name[:3]].append(name.title())
            loss = nn.functional.cross_entropy(model(sponges), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}, {len(index)} beginnings")
    watch.tell()


if __name__ == "__main__":
    main()
