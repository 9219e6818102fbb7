"""Segments radar sweeps; now and then a sweep must be put together from its parts.

Planted: every sixteenth batch takes long, and only one batch is prefetched, though the worker is quick on average.
Truth: time that the loop waits for the loader, as a share of the loop.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Sweeps(Dataset):
    def __len__(self):
        return 300

    def __getitem__(self, index):
        if index % 16 == 15:
            time.sleep(0.2)  # the radar's parts arrive late
        return torch.randn(8, 2, 64, 64), torch.randint(4, (8, 64, 64))


def main():
    torch.manual_seed(105)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(2, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, 4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Sweeps(), batch_size=None, num_workers=1, prefetch_factor=1)
    watch = Stopwatch()
    with watch.loop():
        for sweeps, kinds in watch.limited(watch.batches(loader), 3.5):
            loss = nn.functional.cross_entropy(model(sweeps), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
