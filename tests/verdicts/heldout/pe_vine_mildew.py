"""Finds mildew on vine leaves: a small convolutional network over photographs of one vineyard, few of them, so epochs are short.

Planted: the loader's worker is started anew in each epoch of nine batches, and reads the vineyard's index before its first one.
Truth: time from asking the loader for an epoch to its first batch, and of its end, as a share of the loop.
"""
import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

LEAVES, SIDE, BATCH = 216, 48, 24


class Vineyard(Dataset):
    def __init__(self):
        draw = numpy.random.default_rng(4)
        self.photographs = draw.integers(0, 255, (LEAVES, SIDE, SIDE, 3), dtype=numpy.uint8)
        self.sick = (self.photographs[:, 10:20, 10:20, 1].mean((1, 2)) > 127).astype(numpy.int64)
        self.index = None

    def __len__(self):
        return LEAVES

    def __getitem__(self, number):
        if self.index is None:
            self.index = {(row, vine): row * 400 + vine for row in range(120) for vine in range(400)}
        at = self.index[number // 400, number % 400]
        return torch.from_numpy(self.photographs[at]).permute(2, 0, 1).float().div(255), int(self.sick[at])


class Leaf(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(3, 24, 3, 2, 1), nn.BatchNorm2d(24), nn.ReLU(),
            nn.Conv2d(24, 48, 3, 1, 1), nn.BatchNorm2d(48), nn.ReLU(),
            nn.Conv2d(48, 64, 3, 2, 1), nn.BatchNorm2d(64), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 2))


def epochs(loader, watch):
    while watch.seconds() < 6.2:
        with watch.planted():
            leaves = iter(loader)
            batch = next(leaves)
        yield batch
        for _ in range(len(loader) - 1):
            yield next(leaves)
        with watch.planted():
            del leaves


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    network, watch = Leaf(), Stopwatch()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, fused=True)
    loader = DataLoader(Vineyard(), BATCH, shuffle=True, num_workers=1)
    with watch.loop():
        for photographs, sick in epochs(loader, watch):
            loss = nn.functional.cross_entropy(network(photographs), sick)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
