"""Trains a matrix factorisation, and collects garbage after each epoch.

Decoy of a collector that takes much: it is called by hand, but the old objects are frozen and it takes little.
Truth: time of gc.collect(), as a share of the loop.
"""
import gc

import torch
from torch import nn

from stopwatch import Stopwatch


class Factors(nn.Module):
    def __init__(self, rows, columns, width=96):
        super().__init__()
        self.rows = nn.Parameter(torch.randn(rows, width) * 0.1)
        self.columns = nn.Parameter(torch.randn(width, columns) * 0.1)
        self.mix = nn.Sequential(nn.Linear(width, 256), nn.SiLU(), nn.Linear(256, width))

    def forward(self, chosen):
        return self.mix(self.rows[chosen]) @ self.columns


def main():
    torch.manual_seed(31)
    ratings = torch.rand(4000, 1500)
    model = Factors(4000, 1500)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    gc.collect()
    gc.freeze()
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 9:
            for chosen in watch.limited(torch.randperm(4000).split(400), 9):
                loss = nn.functional.mse_loss(model(chosen), ratings[chosen])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
            with watch.planted():
                gc.collect()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
