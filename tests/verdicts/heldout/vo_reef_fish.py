"""Counts kinds of fish on photographs from two stations at a reef; a loader's worker reads the photographs of its own station.

Planted: the second station's camera sends photographs thirteen times as wide and high, its worker alone makes them small and is always late.
Truth: time that the loop waits for its batches, of the loop.
"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from stopwatch import Stopwatch

SIDE, TIMES, KINDS, BATCH = 64, 13, 12, 16
watch = Stopwatch()


class Station(IterableDataset):
    """Photographs without end, each with its kinds of fish."""

    def __iter__(self):
        worker = get_worker_info()
        dice = np.random.default_rng(worker.id)
        times = (1, TIMES)[worker.id]
        film = dice.integers(0, 255, (4, SIDE * times, SIDE * times, 3), dtype=np.uint8)
        while True:
            photo = film[dice.integers(len(film))]
            if times > 1:
                photo = self.shrink(photo)
            kinds = dice.integers(0, 2, KINDS).astype(np.float32)
            yield torch.from_numpy(photo.astype(np.float32) / 255).permute(2, 0, 1).contiguous(), torch.from_numpy(kinds)

    @staticmethod
    def shrink(photo):
        blocks = photo.reshape(SIDE, TIMES, SIDE, TIMES, 3)
        return blocks.mean((1, 3), dtype=np.float32)


class Fish(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.eyes = nn.Sequential(
            nn.Conv2d(3, width, 5, stride=2, padding=2), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(2 * width, 2 * width, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.kinds = nn.Linear(2 * width, KINDS)

    def forward(self, photos):
        return self.kinds(self.eyes(photos))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    model = Fish()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)
    loader = DataLoader(Station(), batch_size=BATCH, num_workers=2, prefetch_factor=2)
    wrong = nn.BCEWithLogitsLoss()
    with watch.loop():
        for photos, kinds in watch.limited(watch.batches(loader), 6.5):
            loss = wrong(model(photos), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
