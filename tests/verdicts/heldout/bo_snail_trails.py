"""Tells kinds of snails by the trails that they leave on a pane: a network of attention over the points of a trail.

Planted: the trails of a night are few, so an epoch is four batches, and the DataLoader starts its worker anew for each epoch.
Truth: time until the first batch of each epoch is there, and until its worker has ended, of the loop.
"""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

KINDS, POINTS, NIGHT = 7, 48, 128
watch = Stopwatch()


class Trails(Dataset):
    def __init__(self, seed):
        draw = torch.Generator().manual_seed(seed)
        self.kind = torch.randint(KINDS, (NIGHT,), generator=draw)
        turn = (0.1 * self.kind[:, None] + 0.5 * torch.randn(NIGHT, POINTS, generator=draw)).cumsum(1)
        self.way = torch.stack([turn.cos().cumsum(1), turn.sin().cumsum(1), turn.cos(), turn.sin()], -1)

    def __len__(self):
        return NIGHT

    def __getitem__(self, i):
        return self.way[i], self.kind[i]


class Reader(nn.Module):
    def __init__(self, width=72, depth=2):
        super().__init__()
        self.enter = nn.Linear(4, width)
        self.place = nn.Parameter(torch.randn(POINTS, width) / math.sqrt(width))
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.leave = nn.Linear(width, KINDS)

    def forward(self, way):
        return self.leave(self.body(self.enter(way) + self.place).mean(1))


def epoch(loader, model, optimizer):
    with watch.planted():
        batches = iter(loader)
        batch = next(batches)
    left = len(loader)
    while batch is not None:
        way, kind = batch
        loss = nn.functional.cross_entropy(model(way), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch.step()
        left -= 1
        if left:
            batch = next(batches)
        else:
            with watch.planted():
                batch = next(batches, None)
    return loss.item()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(9)
    model = Reader()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    loader = DataLoader(Trails(1), batch_size=32, shuffle=True, num_workers=1)
    with watch.loop():
        while watch.seconds() < 6.5:
            loss = epoch(loader, model, optimizer)
    print(f"loss {loss:.3f}")
    watch.tell()


main()
