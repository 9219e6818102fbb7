"""Finds the region of a village by the letters of its name.

Planted: Adam changes all rows of a large embedding in each step, although a batch uses few of them.
Truth: time of the optimizer's step, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

TRIGRAMS = 90000


def main():
    torch.manual_seed(14)
    watch = Stopwatch()
    table = nn.EmbeddingBag(TRIGRAMS, 48, mode="mean")
    head = nn.Sequential(nn.Linear(48, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 12))
    model = nn.Sequential(table, head)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    names, regions = torch.randint(0, TRIGRAMS, (4096, 12)), torch.randint(0, 12, (4096,))
    with watch.loop():
        for number in range(100000):
            at = number * 512 % 4096
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(names[at:at + 512]), regions[at:at + 512]).backward()
            with watch.planted():
                optimizer.step()
            watch.step()
            if watch.seconds() > 6:
                break
    watch.tell()


if __name__ == "__main__":
    main()
