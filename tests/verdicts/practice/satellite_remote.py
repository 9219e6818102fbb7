"""Segments satellite tiles that lie in an object store.

Planted: two workers wait 12 ms for each tile, so that they deliver fewer batches than the model takes.
Truth: time that the loop waits for the next batch.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Tiles(Dataset):
    """Stands for a bucket: each get costs a round trip."""

    def __init__(self, count=400):
        generator = torch.Generator().manual_seed(1)
        self.bands = torch.rand(40, 4, 64, 64, generator=generator)
        self.masks = (self.bands.mean(1) > 0.5).long()
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(0.012)
        return self.bands[index % 40], self.masks[index % 40]


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(4, 24, 3, stride=2, padding=1)
        self.middle = nn.Conv2d(24, 24, 3, padding=1)
        self.up = nn.ConvTranspose2d(24, 2, 2, stride=2)

    def forward(self, tiles):
        hidden = torch.relu(self.down(tiles))
        return self.up(torch.relu(self.middle(hidden)))


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = Segmenter()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Tiles(), batch_size=16, shuffle=True, num_workers=2, persistent_workers=True)
    watch = Stopwatch()
    with watch.loop():
        for epoch in watch.limited(range(4), 12):
            for tiles, masks in watch.limited(watch.batches(loader), 12):
                loss = nn.functional.cross_entropy(model(tiles), masks)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
            print(f"epoch {epoch} loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
