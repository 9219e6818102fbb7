"""Predicts which passengers change trains.

Decoy of the collector: it is switched off, and each step collects the youngest generation by hand, which takes a moment.
Truth: time of collecting, as a share of the loop.
"""
import gc

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(243)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(450, 900), nn.Mish(), nn.Linear(900, 600), nn.Mish(), nn.Linear(600, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    passengers, watch = torch.randn(5000, 450), Stopwatch()
    gc.disable()
    with watch.loop():
        while watch.seconds() < 3.4:
            chosen = torch.randint(5000, (240,))
            loss = nn.functional.cross_entropy(model(passengers[chosen]), chosen % 2)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                gc.collect(0)
            watch.step()
    gc.enable()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
