"""Scores job letters; the script once called a paid service, and its limit is still there.

Planted: a limiter sleeps before each batch so that there are no more than so many in a second.
Truth: time of sleeping, as a share of the loop.
"""
import time

import torch
from torch import nn

from stopwatch import Stopwatch


class Limiter:
    def __init__(self, gap):
        self.gap, self.last = gap, 0.0

    def wait(self):
        time.sleep(self.gap)
        self.last = time.monotonic()


def main():
    torch.manual_seed(15)
    watch = Stopwatch()
    limiter = Limiter(0.011)
    model = nn.Sequential(nn.Linear(512, 1000), nn.GELU(), nn.Linear(1000, 1000), nn.GELU(), nn.Linear(1000, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    letters, scores = torch.rand(192, 512), torch.rand(192, 1)
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                limiter.wait()
            optimizer.zero_grad()
            nn.functional.mse_loss(model(letters), scores).backward()
            optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
