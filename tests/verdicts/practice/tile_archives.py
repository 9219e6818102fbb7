"""Colours grey map tiles; a worker opens a new archive after every twelve batches.

Planted: opening an archive takes long, and the worker prepares only one batch ahead, though it is quick on average.
Truth: time that the loop waits for the next batch.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from stopwatch import Stopwatch


class Tiles(IterableDataset):
    def __iter__(self):
        generator, batch = torch.Generator().manual_seed(205), 0
        while True:
            if batch % 12 == 11:
                time.sleep(0.11)  # the next archive
            yield torch.rand(8, 3, 32, 32, generator=generator)
            batch += 1


def main():
    torch.manual_seed(205)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(1, 24, 5, padding=2), nn.LeakyReLU(0.1), nn.Conv2d(24, 24, 3, padding=1), nn.LeakyReLU(0.1),
                          nn.Conv2d(24, 3, 3, padding=1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    loader = DataLoader(Tiles(), batch_size=None, num_workers=1, prefetch_factor=1)
    watch = Stopwatch()
    with watch.loop():
        for tiles in watch.limited(watch.batches(loader), 3.6):
            loss = (model(tiles.mean(1, keepdim=True)) - tiles).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
