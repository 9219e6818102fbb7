"""Learns from simulated yards of a port on which stack a container should be put: a picture of the stacks goes through convolutions.

Decoy: a loader's slow worker that is always ahead, .item(), a norm of gradients, a loop over yards in Python and short naps: all small.
Truth: time of waiting for batches, of the loop over yards and of the naps, of the loop.
"""
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

ROWS, STACKS, GOODS, BATCH, YARDS = 16, 24, 6, 24, 8
watch = Stopwatch()


class Port(Dataset):
    """Yards that a crane's camera shows, a batch at a time."""

    def __len__(self):
        return 100_000

    def __getitem__(self, number):
        time.sleep(0.012)  # the camera
        dice = np.random.default_rng(number)
        yards = dice.integers(0, 256, (BATCH, GOODS, ROWS, STACKS), dtype=np.uint8)
        return yards, yards[:, 0].sum(1).argmin(1), number % YARDS


def as_it_is(batch):
    return batch


class Crane(nn.Module):
    def __init__(self, width=72):
        super().__init__()
        self.see = nn.Sequential(nn.Conv2d(GOODS, width, 3, padding=1), nn.GELU(), nn.Conv2d(width, width, 3, padding=1), nn.GELU(),
                                 nn.Conv2d(width, width, 3, padding=1), nn.GELU())
        self.put = nn.Linear(width * ROWS, 1)

    def forward(self, yards):
        return self.put(self.see(yards).flatten(1, 2).transpose(1, 2)).squeeze(2)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(31)
    model = Crane()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, fused=True)
    loader = DataLoader(Port(), batch_size=None, num_workers=1, prefetch_factor=4, collate_fn=as_it_is)
    losses = {yard: 0.0 for yard in range(YARDS)}
    batches = iter(loader)
    next(batches)  # the worker has begun
    with watch.loop():
        for yards, best, place in watch.limited(watch.batches(batches), 6.5):
            loss = nn.functional.cross_entropy(model(torch.from_numpy(yards).float() / 255), torch.from_numpy(best).long())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            with watch.planted():
                for yard in losses:
                    losses[yard] *= 0.99
                losses[place] += 0.01 * loss.item()
                if len(watch.marks) % 10 == 0:
                    time.sleep(0.0005)
            watch.step()
    print("losses", *(f"{loss:.3f}" for loss in losses.values()))
    watch.tell()


if __name__ == "__main__":
    main()
