"""Learns ages of trees beside a large table of Python objects.

Decoy: the program keeps many objects, but gc.freeze hides them from the collector, which then has little to do.
Truth: time of one collection of the young objects a step, as a share of the loop.
"""
import gc

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(167)
    torch.set_num_threads(1)
    trees = [{"rings": [ring], "name": str(ring)} for ring in range(150000)]
    gc.collect()
    gc.freeze()
    model = nn.Sequential(nn.Linear(150, 384), nn.Tanh(), nn.Linear(384, 384), nn.Tanh(), nn.Linear(384, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    rings, ages, watch = torch.randn(1200, 150), torch.randn(1200, 1), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            loss = nn.functional.mse_loss(model(rings), ages)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                gc.collect(0)
            watch.step()
    print(f"loss {loss.item():.3f}, {len(trees)} trees")
    watch.tell()


if __name__ == "__main__":
    main()
