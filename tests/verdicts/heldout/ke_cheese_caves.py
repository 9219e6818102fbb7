"""Forecasts the rind of cheeses that ripen in caves: a convolutional network over the climate of the last days.

Planted: a single worker smooths each climate record hour by hour in Python, and needs longer for a batch than the training does.
Truth: time that the loop waits for batches, of the loop.
"""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

HOURS = 240


def smooth(seen):
    """Holt's: a level and a trend."""
    level, trend, out = seen[0], 0.0, []
    for value in seen:
        before = level
        level = 0.3 * value + 0.7 * (level + trend)
        trend = 0.1 * (level - before) + 0.9 * trend
        out.append(min(max(level, 0.0), 1.0))
    return out


class Caves(Dataset):
    def __init__(self, cheeses):
        self.cheeses = cheeses

    def __len__(self):
        return self.cheeses

    def __getitem__(self, at):
        chance = random.Random(at)
        records = []
        for kind in range(4):  # warmth, moisture, air, ammonia
            seen = [0.5 + 0.2 * chance.random() + 0.01 * kind for _ in range(HOURS)]
            for _ in range(2):  # forth and back, so that nothing is late
                seen = smooth(smooth(seen)[::-1])[::-1]
            records.append(seen)
        rind = sum(records[1][-48:]) / 48
        return torch.tensor(records), torch.tensor(rind)


class Rind(nn.Module):
    def __init__(self):
        super().__init__()
        self.days = nn.Sequential(
            nn.Conv1d(4, 48, 9, padding=4), nn.GELU(),
            nn.Conv1d(48, 64, 9, stride=2, padding=4), nn.GELU(),
            nn.Conv1d(64, 96, 5, stride=2, padding=2), nn.GELU())
        self.rind = nn.Linear(96, 1)

    def forward(self, climate):
        return self.rind(self.days(climate).mean(2)).squeeze(1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(2)
    watch = Stopwatch()
    model = Rind()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    loader = DataLoader(Caves(200000), batch_size=24, num_workers=1, persistent_workers=True, prefetch_factor=4)
    with watch.loop():
        for climate, rind in watch.batches(loader):
            optimizer.zero_grad()
            loss = nn.functional.smooth_l1_loss(model(climate), rind)
            loss.backward()
            optimizer.step()
            watch.step()
            if watch.seconds() > 6:
                break
    print(f"loss {loss.item():.5f}")
    watch.tell()


if __name__ == "__main__":
    main()
