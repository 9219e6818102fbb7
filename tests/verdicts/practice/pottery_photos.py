"""Dates pots by their photos, with a DataLoader that has two workers.

Planted: each photo comes from a storage that answers after 8 ms, so two workers are too few.
Truth: time that the loop waits for batches, as a share of the loop.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Photos(Dataset):
    def __init__(self):
        self.photos = torch.rand(64, 3, 40, 40)

    def __len__(self):
        return 16 * 3000

    def __getitem__(self, at):
        time.sleep(0.008)
        return self.photos[at % 64], float(at % 64)


def main():
    torch.manual_seed(11)
    watch = Stopwatch()
    model = nn.Sequential(nn.Conv2d(3, 32, 5), nn.ReLU(), nn.Conv2d(32, 48, 5), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
    loader = DataLoader(Photos(), batch_size=16, num_workers=2, prefetch_factor=2)
    with watch.loop():
        for photos, ages in watch.limited(watch.batches(loader), 6):
            optimizer.zero_grad()
            nn.functional.smooth_l1_loss(model(photos)[:, 0], ages.float()).backward()
            optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
