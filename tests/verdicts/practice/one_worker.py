"""Detects cracks in photographs of bridges.

Planted: one worker of the DataLoader blurs and cuts all photographs, and cannot keep up.
Truth: time that the loop waits for batches, as a share of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Bridges(Dataset):
    def __len__(self):
        return 100000

    def __getitem__(self, at):
        rows = [[(x * y + at) % 251 for x in range(96)] for y in range(96)]
        photo = torch.tensor(rows, dtype=torch.float32).div_(251)[None]
        return nn.functional.avg_pool2d(photo, 2), at % 2


def main():
    torch.manual_seed(11)
    torch.set_num_threads(1)
    watch = Stopwatch()
    model = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watch.loop():
        for photos, cracks in watch.limited(watch.batches(DataLoader(Bridges(), batch_size=32, num_workers=1)), 6):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(photos), cracks).backward()
            optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
