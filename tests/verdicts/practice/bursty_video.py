"""Recognises actions in clips; now and then a clip begins at a far key frame.

Planted: each worker prefetches one batch only. On average the two workers produce faster than the model
consumes, but a slow batch is never covered by batches in store.
Truth: time that the loop waits for the next batch. `production_ms`: mean time of a batch, by number of workers.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

FAST_S, SLOW_S, EVERY, WORKERS = 0.010, 0.600, 19, 2


class Clips(Dataset):
    """An item is a whole batch of 4 clips."""

    def __init__(self, count):
        self.count = count
        self.frames = torch.rand(4, 3, 8, 32, 32, generator=torch.Generator().manual_seed(4))

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(SLOW_S if index % EVERY == EVERY - 1 else FAST_S)
        return self.frames + index * 1e-4, torch.arange(4) % 3


class Net3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv3d(3, 24, 3, padding=1), nn.ReLU(), nn.MaxPool3d(2),
                                      nn.Conv3d(24, 48, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool3d(1))
        self.out = nn.Linear(48, 3)

    def forward(self, clips):
        return self.out(self.features(clips).flatten(1))


def main():
    torch.manual_seed(4)
    torch.set_num_threads(1)
    model = Net3d()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Clips(140), batch_size=None, num_workers=WORKERS, prefetch_factor=1)
    watch = Stopwatch()
    with watch.loop():
        for clips, actions in watch.limited(watch.batches(loader), 13):
            for _ in range(2):  # two views of each clip
                clips = clips.flip(2)
                loss = nn.functional.cross_entropy(model(clips), actions)
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell(production_ms=1e3 * (FAST_S * (EVERY - 1) + SLOW_S) / EVERY / WORKERS)


if __name__ == "__main__":
    main()
