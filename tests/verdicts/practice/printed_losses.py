"""Predicts rents, and prints the loss of each step.

Decoy: each step calls item() and prints, which takes little on a processor.
Truth: time of both, as a share of the loop.
"""
import sys

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(179)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(100, 400), nn.ReLU(), nn.Linear(400, 300), nn.ReLU(), nn.Linear(300, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    flats, rents, watch = torch.randn(1500, 100), torch.randn(1500, 1), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            loss = nn.functional.mse_loss(model(flats), rents)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                print(f"{len(watch.marks)}: {loss.item():.4f}", file=sys.stderr, flush=True)
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
