"""Colours old films: a small network from grey patches to colours.

Planted: the network and its optimizer are saved whenever the mean loss is the best so far, and while it falls that is nearly always.
Truth: time of saving, of the loop.
"""
import os
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch


class Colourist(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(1, 96, 8, stride=8)
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(96, 384), nn.GELU(), nn.Linear(384, 96)) for _ in range(4))
        self.places = nn.Embedding(4096, 256)
        self.place = nn.Linear(256, 96)
        self.colours = nn.Linear(96, 2 * 64)

    def forward(self, grey, frame):
        x = self.patches(grey).flatten(2).transpose(1, 2) + self.place(self.places(frame))[:, None]
        for block in self.blocks:
            x = x + block(x)
        return self.colours(x)


class Keeper:
    """Keeps the best weights."""

    def __init__(self, folder, watch):
        self.path, self.watch, self.mean, self.best, self.saves = os.path.join(folder, "best.pt"), watch, None, float("inf"), 0

    def see(self, loss, model, optimizer):
        self.mean = loss if self.mean is None else 0.97 * self.mean + 0.03 * loss
        if self.mean >= self.best:
            return
        self.best = self.mean
        self.saves += 1
        with self.watch.planted():
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "loss": loss}, self.path)


def main():
    torch.manual_seed(31)
    watch = Stopwatch()
    model = Colourist()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-5)
    film = torch.rand(256, 1, 96, 96)
    truth = nn.functional.pixel_unshuffle(torch.cat([film * 0.7, 1 - film], 1), 8).flatten(2).transpose(1, 2)
    with tempfile.TemporaryDirectory() as folder, watch.loop():
        keeper = Keeper(folder, watch)
        while watch.seconds() < 6.5:
            frame = torch.randint(0, 256, (4,))
            loss = nn.functional.l1_loss(model(film[frame], frame), truth[frame])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            keeper.see(loss.item(), model, optimizer)
            watch.step()
    print(f"{keeper.saves} saves, best {keeper.best:.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
