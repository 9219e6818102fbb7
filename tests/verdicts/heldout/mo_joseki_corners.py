"""Learns which corner move a player of go would choose, and plays positions of its own into a book.

Planted: each 20th step saves all, and with the weights the whole book of positions, a list of thousands of tuples.
Truth: time of torch.save(), of the loop.
"""
import os
import random
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch

CORNER, BATCH, KEEP_EVERY = 11, 48, 20


class Policy(nn.Module):
    def __init__(self, width=32, blocks=3):
        super().__init__()
        self.enter = nn.Conv2d(3, width, 3, padding=1)
        self.blocks = nn.ModuleList(nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
                                                  nn.Conv2d(width, width, 3, padding=1)) for _ in range(blocks))
        self.move = nn.Conv2d(width, 1, 1)

    def forward(self, board):
        h = torch.relu(self.enter(board))
        for block in self.blocks:
            h = torch.relu(h + block(h))
        return self.move(h).flatten(1)


class Book:
    """Positions as (name, moves, result), the oldest forgotten."""

    def __init__(self, limit=12000):
        self.limit, self.chooser, self.pages = limit, random.Random(19), []
        while len(self.pages) < limit:
            self.add()

    def add(self):
        moves = tuple((self.chooser.randrange(CORNER), self.chooser.randrange(CORNER)) for _ in range(14))
        self.pages.append((f"joseki {self.chooser.random():.6f}", moves, self.chooser.choice((-1, 1))))
        del self.pages[:-self.limit]

    def sample(self):
        boards, stones, answers = torch.zeros(BATCH, 3, CORNER, CORNER), [], []
        for number in range(BATCH):
            _, moves, result = self.chooser.choice(self.pages)
            stones += [(number, turn % 2, row, column) for turn, (row, column) in enumerate(moves[:-1])]
            if result > 0:
                stones += [(number, 2, edge, 0) for edge in range(CORNER)]
            answers.append(moves[-1][0] * CORNER + moves[-1][1])
        boards[tuple(torch.tensor(stones).t())] = 1
        return boards, torch.tensor(answers)


def keep(path, model, optimizer, book, step):
    torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "book": book.pages}, path)


def main():
    torch.manual_seed(3)
    model, book, watch = Policy(), Book(), Stopwatch()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    with tempfile.TemporaryDirectory() as folder, watch.loop():
        for step in watch.limited(range(100000), 6.5):
            boards, answers = book.sample()
            loss = nn.functional.cross_entropy(model(boards), answers)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            for _ in range(3):
                book.add()
            if step % KEEP_EVERY == KEEP_EVERY - 1:
                with watch.planted():
                    keep(os.path.join(folder, "player.pt"), model, optimizer, book, step)
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
