"""Segments road scenes that two workers fetch from a remote store.

Decoy of slow workers: each fetch takes 3 ms, but the workers sleep meanwhile and are always ahead.
Truth: time that the loop waits for batches after the first one.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Roads(Dataset):
    def __init__(self, count=4000):
        self.scenes = torch.rand(32, 3, 40, 80)
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(0.003)
        return self.scenes[index % 32], self.scenes[index % 32].mean(0).gt(0.5).long()


def main():
    torch.manual_seed(83)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 40, 3, padding=1), nn.ReLU(), nn.Conv2d(40, 40, 3, padding=1), nn.ReLU(), nn.Conv2d(40, 2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loader = DataLoader(Roads(), batch_size=8, num_workers=2, prefetch_factor=6)
    watch, batches = Stopwatch(), iter(loader)
    next(batches)
    with watch.loop():
        for scenes, roads in watch.limited(watch.batches(batches), 3.2):
            loss = nn.functional.cross_entropy(model(scenes), roads)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
