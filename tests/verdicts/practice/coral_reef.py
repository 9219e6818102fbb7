"""Names corals in survey tiles that are stored compressed.

Planted: a DataLoader without workers unpacks each tile with zlib.
Truth: time that the loop waits for its batches, as a share of the loop.
"""
import zlib

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Tiles(Dataset):
    def __init__(self):
        generator = torch.Generator().manual_seed(41)
        self.packed = [zlib.compress((torch.rand(3, 96, 96, generator=generator) * 24).byte().numpy().tobytes()) for _ in range(96)]

    def __len__(self):
        return 12000

    def __getitem__(self, index):
        raw = bytearray(zlib.decompress(self.packed[index % 96]))
        return torch.frombuffer(raw, dtype=torch.uint8).view(3, 96, 96).float().div_(24), index % 7


def main():
    torch.manual_seed(41)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 12, 5, stride=2), nn.ReLU(), nn.Conv2d(12, 16, 3, stride=2), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, 7))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    watch = Stopwatch()
    with watch.loop():
        for tiles, kinds in watch.limited(watch.batches(DataLoader(Tiles(), batch_size=20)), 3.5):
            loss = nn.functional.cross_entropy(model(tiles), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
