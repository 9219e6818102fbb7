"""Learns to find ways through mazes; the mazes become harder after every ten steps.

Planted: each level has a DataLoader of its own, whose workers start anew and read the catalogue of mazes first.
Truth: time that the loop waits for a level's loader and its batches.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

catalogue = {}


def read_catalogue(_worker):
    time.sleep(0.05)  # on a network share
    catalogue.update((number, (number * 7919) % 1009) for number in range(20_000))


class Mazes(Dataset):
    def __init__(self, level, count=320):
        self.level, self.count = level, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(catalogue[index] + self.level)
        walls = (torch.rand(1, 28, 28, generator=generator) < 0.2 + self.level / 200).float()
        return walls, index % 4


def main():
    torch.manual_seed(204)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(1, 24, 5, stride=2, padding=2), nn.ReLU(), nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(4),
                          nn.Flatten(), nn.Linear(32 * 9, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    watch, level = Stopwatch(), 0
    with watch.loop():
        while watch.seconds() < 3.6:
            loader = DataLoader(Mazes(level), batch_size=32, num_workers=2, worker_init_fn=read_catalogue)
            for walls, ways in watch.batches(loader):
                loss = nn.functional.cross_entropy(model(walls), ways)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
            level += 1
    print(f"loss {loss.item():.3f} at level {level}")
    watch.tell()


if __name__ == "__main__":
    main()
