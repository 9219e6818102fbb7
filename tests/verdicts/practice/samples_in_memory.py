"""Finds ships on radar pictures; the DataLoader has no workers.

Decoy: the loop makes its batches itself, but its samples are tensors in memory and few.
Truth: time that the loop waits for batches, as a share of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch


def main():
    torch.manual_seed(23)
    watch = Stopwatch()
    model = nn.Sequential(nn.Conv2d(1, 40, 5), nn.ReLU(), nn.Conv2d(40, 64, 5, stride=2), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                          nn.Flatten(), nn.Linear(64, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(TensorDataset(torch.rand(10 * 400, 1, 72, 72), torch.arange(10 * 400) % 2), batch_size=10)
    with watch.loop():
        for radar, ships in watch.limited(watch.batches(loader), 6):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(radar), ships).backward()
            optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
