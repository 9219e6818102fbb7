"""Trains on spectra from three archives, one of which lies on a network share.

Planted: the worker that reads the share takes 45 ms for a batch; the two others are quick.
Truth: time that the loop waits for the next batch.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from stopwatch import Stopwatch


class Archives(IterableDataset):
    """Each worker has an archive of its own."""

    def __init__(self, spectra=4000):
        self.spectra = torch.randn(64, 800)
        self.count = spectra

    def __iter__(self):
        archive = get_worker_info().id
        for number in range(self.count):
            if archive == 2 and number % 24 == 0:
                time.sleep(0.045)
            yield self.spectra[number % 64], number % 8


def main():
    torch.manual_seed(65)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Unflatten(1, (1, 800)), nn.Conv1d(1, 16, 9), nn.ReLU(), nn.Conv1d(16, 24, 9, stride=4), nn.ReLU(),
                          nn.AdaptiveAvgPool1d(16), nn.Flatten(), nn.Linear(384, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Archives(), batch_size=24, num_workers=3)
    watch = Stopwatch()
    with watch.loop():
        for spectra, elements in watch.limited(watch.batches(loader), 3.3):
            loss = nn.functional.cross_entropy(model(spectra), elements)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
