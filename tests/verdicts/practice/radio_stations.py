"""Separates speech from music in the programme of radio stations; each of three workers listens to one station.

Planted: one station's server is slow, and batches are delivered by turns.
Truth: time that the loop waits for the next batch.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from stopwatch import Stopwatch


class Station(IterableDataset):
    """Of each worker, the batches of its own station."""

    def __iter__(self):
        number = get_worker_info().id
        generator = torch.Generator().manual_seed(number)
        while True:
            time.sleep(0.075 if number == 1 else 0.003)
            yield torch.randn(96, 640, generator=generator), torch.randint(2, (96,), generator=generator)


def main():
    torch.manual_seed(203)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(640, 1024), nn.ReLU(), nn.LayerNorm(1024), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    loader = DataLoader(Station(), batch_size=None, num_workers=3)
    watch = Stopwatch()
    with watch.loop():
        for sound, kinds in watch.limited(watch.batches(loader), 3.6):
            loss = nn.functional.cross_entropy(model(sound), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
