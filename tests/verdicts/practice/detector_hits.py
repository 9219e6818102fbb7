"""Reconstructs particle collisions from the hits that a detector recorded.

Planted: a batch is a list of thousands of Python objects, which the worker pickles and the loop unpickles.
Truth: time that the loop spends in the loader, as a share of the loop.
"""
import dataclasses
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


@dataclasses.dataclass
class Hit:
    layer: int
    angle: float
    energy: float


class Collisions(Dataset):
    def __init__(self):
        source = random.Random(106)
        self.collisions = [[Hit(source.randrange(12), source.random(), source.random()) for _ in range(5000)] for _ in range(12)]

    def __len__(self):
        return 300

    def __getitem__(self, index):
        return self.collisions[index % len(self.collisions)]


def main():
    torch.manual_seed(106)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(512, 1200), nn.ReLU(), nn.Linear(1200, 1200), nn.ReLU(), nn.Linear(1200, 12))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Collisions(), batch_size=None, num_workers=2)
    watch, energies = Stopwatch(), torch.randn(128, 512)
    with watch.loop():
        for hits in watch.limited(watch.batches(loader), 3.2):
            layers = torch.tensor([hit.layer for hit in hits[:128]])
            loss = nn.functional.cross_entropy(model(energies), layers)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
