"""Looks for cracks in pots by the sound of a knock: a convolutional network, knocks come from two workshops through two workers.

Planted: the second workshop's recordings lie on a slow share, so its worker needs long for each batch and the loop waits for it in turn.
Truth: time that the loop waits for batches, of the loop.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from stopwatch import Stopwatch

SAMPLES = 1024


class Workshop:
    def __init__(self, seed, delay):
        self.generator, self.delay = torch.Generator().manual_seed(seed), delay

    def fetch(self):
        """One knock, with the time of a share that answers late."""
        if self.delay:
            time.sleep(self.delay)
        cracked = bool(torch.rand((), generator=self.generator) < 0.4)
        when = torch.arange(SAMPLES) / SAMPLES
        ring = torch.exp(-when * (9 if cracked else 3)) * torch.sin(when * (140 + 60 * torch.rand((), generator=self.generator)))
        return ring + 0.02 * torch.randn(SAMPLES, generator=self.generator), float(cracked)


class Knocks(IterableDataset):
    """Each worker has one workshop."""

    def __iter__(self):
        number = get_worker_info().id
        workshop = Workshop(seed=70 + number, delay=0.005 if number == 1 else 0)
        while True:
            yield workshop.fetch()


def network():
    layers, wide = [], 1
    for width in (32, 64, 128):
        layers += [nn.Conv1d(wide, width, 9, 2, 4), nn.BatchNorm1d(width), nn.ReLU()]
        wide = width
    return nn.Sequential(nn.Unflatten(1, (1, SAMPLES)), *layers, nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(4 * wide, 1), nn.Flatten(0))


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model, watch = network(), Stopwatch()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    loader = DataLoader(Knocks(), batch_size=16, num_workers=2)
    right = total = 0
    with watch.loop():
        for sounds, cracked in watch.batches(loader):
            score = model(sounds)
            loss = nn.functional.binary_cross_entropy_with_logits(score, cracked.float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += ((score > 0) == (cracked > 0.5)).sum().item()
            total += len(cracked)
            watch.step()
            if watch.seconds() > 7:
                break
    print(f"{right / total:.3f} right")
    watch.tell()


if __name__ == "__main__":
    main()
