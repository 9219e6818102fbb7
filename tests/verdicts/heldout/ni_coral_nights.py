"""Bleached or not: a small network on photographs of corals, whose few reefs make short epochs.

Planted: the loader starts its two workers anew for each epoch of 10 batches.
Truth: time of starting workers until their first batch, and of stopping them, of the loop.
"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Reef(Dataset):
    def __init__(self, count=160, side=64):
        dice = np.random.default_rng(3)
        self.photographs = dice.integers(0, 255, (count, 3, side, side), dtype=np.uint8)
        self.bleached = dice.integers(0, 2, count)

    def __len__(self):
        return len(self.photographs)

    def __getitem__(self, index):
        photograph = self.photographs[index]
        if self.bleached[index] and index % 2:
            photograph = photograph[:, :, ::-1].copy()
        return torch.from_numpy(photograph).float().div_(255), int(self.bleached[index])


class Bleaching(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, stride=2, padding=1)
        self.one, self.two = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.out = nn.Linear(width, 2)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = x + torch.relu(self.two(torch.relu(self.one(x))))
        return self.out(x.mean((2, 3)))


class Fit:
    def __init__(self, watch):
        self.watch, self.model = watch, Bleaching()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9)

    def epoch(self, loader):
        with self.watch.planted():
            batches = iter(loader)
            batch = next(batches)
        for _ in range(len(loader) - 1):
            self.batch(*batch)
            batch = next(batches)
        self.batch(*batch)
        with self.watch.planted():
            next(batches, None)  # there is none: the workers end

    def batch(self, photographs, bleached):
        self.optimizer.zero_grad()
        nn.functional.cross_entropy(self.model(photographs), bleached).backward()
        self.optimizer.step()
        self.watch.step()


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    watch = Stopwatch()
    loader = DataLoader(Reef(), batch_size=16, shuffle=True, num_workers=2)
    fit = Fit(watch)
    with watch.loop():
        while watch.seconds() < 6:
            fit.epoch(loader)
    watch.tell()


if __name__ == "__main__":
    main()
