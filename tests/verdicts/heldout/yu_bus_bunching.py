"""Foresees which buses will bunch, from the gaps between them: a network of wide layers.

Decoy: a loader with a process of its own makes each day in Python, number by number, yet it stays far ahead of the training.
Truth: time that the loop waits for its batches, of the loop.
"""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from stopwatch import Stopwatch

BUSES = 16
watch = Stopwatch()


class Days(IterableDataset):
    def __iter__(self):
        spin = random.Random(17)
        while True:
            gaps, last = [], 6.0
            for _ in range(BUSES):
                last = max(0.5, 0.8 * last + 0.2 * spin.gauss(6, 4))
                gaps.append(last)
            yield gaps, float(min(gaps) < 3.0)


def main():
    torch.manual_seed(4)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(BUSES, 1536), nn.ReLU(), nn.Linear(1536, 1536), nn.ReLU(), nn.Linear(1536, 1536), nn.ReLU(), nn.Linear(1536, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loader = DataLoader(Days(), batch_size=64, num_workers=1, collate_fn=list, prefetch_factor=8)
    days = iter(loader)
    for _ in range(3):
        next(days)
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                rows = next(days)
            gaps, bunched = (torch.tensor(column) for column in zip(*rows))
            loss = nn.functional.binary_cross_entropy_with_logits(model(gaps / 6 - 1).squeeze(1), bunched)
            optimizer.zero_grad(set_to_none=False)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
