"""Completes yield curves of bonds: a masked autoencoder with attention over maturities, a DataLoader whose one worker draws and masks the curves.

Decoy: the worker takes a nap before each batch, as a shop with a limit of queries would, and masks in Python, but its batches are ready long before the loop asks.
Truth: time for which the loop waits for batches, of the loop.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

MATURITIES, BATCH, WIDTH = 60, 56, 96


class Curves(Dataset):
    """A batch is one item."""

    def __len__(self):
        return 100000

    def __getitem__(self, number):
        time.sleep(0.008)
        draw = torch.Generator().manual_seed(number)
        level, slope = torch.rand(2, BATCH, 1, generator=draw)
        curves = 3 * level + slope * torch.linspace(0, 1, MATURITIES).sqrt() + 0.05 * torch.randn(BATCH, MATURITIES, generator=draw)
        hidden = torch.zeros(BATCH, MATURITIES, dtype=torch.bool)
        for row, first in enumerate(torch.randint(0, MATURITIES - 12, (BATCH,), generator=draw).tolist()):
            hidden[row, first:first + 12] = True
        return curves, hidden


class Ladder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate, self.rung = nn.Linear(2, WIDTH), nn.Parameter(torch.randn(MATURITIES, WIDTH) / 10)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 3 * WIDTH, dropout=0.0, batch_first=True, norm_first=True, activation="gelu")
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.curve = nn.Linear(WIDTH, 1)

    def forward(self, curves, hidden):
        given = torch.stack([curves.masked_fill(hidden, 0), hidden.float()], 2)
        return self.curve(self.body(self.rate(given) + self.rung)).squeeze(2)


def main():
    torch.manual_seed(21)
    torch.set_num_threads(1)
    watch, model = Stopwatch(), Ladder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    loader = DataLoader(Curves(), batch_size=None, num_workers=1, prefetch_factor=6)
    ready = iter(loader)
    curves, hidden = next(ready)  # the worker has begun
    time.sleep(0.2)
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            with watch.planted():
                curves, hidden = next(ready)
            made = model(curves, hidden)
            loss = (made - curves).square().masked_select(hidden).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f} after {number + 1}")
    watch.tell()


if __name__ == "__main__":
    main()
