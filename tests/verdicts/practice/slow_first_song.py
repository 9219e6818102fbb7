"""Tells songs apart; the first step reads a table that all later ones use.

Decoy: the first step takes 0.14 s more than each other one.
Truth: that time, as a share of the loop.
"""
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(181)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(200, 350), nn.GELU(), nn.Linear(350, 350), nn.GELU(), nn.Linear(350, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    songs, names, watch, table = torch.randn(1100, 200), torch.randint(10, (1100,)), Stopwatch(), None
    with watch.loop():
        while watch.seconds() < 3.8:
            if table is None:
                with watch.planted():
                    time.sleep(0.14)
                    table = torch.linspace(0.5, 1.5, 200)
            loss = nn.functional.cross_entropy(model(songs * table), names)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
