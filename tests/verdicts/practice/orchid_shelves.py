"""Names orchids, with a DataLoader that has two workers.

Decoy: a worker sleeps for the storage with each batch, but the step is longer and a batch is always ready.
Truth: time that the loop waits for batches after the first, as a share of the loop.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Shelves(Dataset):
    """A sample is a whole batch."""

    def __init__(self):
        self.orchids = torch.rand(4, 16, 3, 64, 64)

    def __len__(self):
        return 3000

    def __getitem__(self, at):
        time.sleep(0.02)
        return self.orchids[at % 4], torch.arange(16) % 9


def main():
    torch.manual_seed(19)
    watch = Stopwatch()
    model = nn.Sequential(nn.Conv2d(3, 48, 5), nn.ReLU(), nn.Conv2d(48, 64, 5, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(64, 9))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = iter(DataLoader(Shelves(), batch_size=None, num_workers=2, prefetch_factor=4))
    orchids, kinds = next(batches)
    with watch.loop():
        while watch.seconds() < 6:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(orchids), kinds).backward()
            optimizer.step()
            with watch.planted():
                orchids, kinds = next(batches)
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
