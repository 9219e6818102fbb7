"""Predicts the next price from an order book that is replayed message by message.

Planted: the book is kept in dictionaries, and its features are computed in Python in each step.
Truth: time of the replay, as a share of the loop.
"""
import random

import torch
from torch import nn

from stopwatch import Stopwatch

LEVELS = 10


class Book:
    def __init__(self):
        self.rng = random.Random(8)
        self.bids, self.asks = {}, {}

    def message(self):
        side, base = (self.bids, 9990) if self.rng.random() < 0.5 else (self.asks, 10001)
        price = base + self.rng.randrange(40) * (-1 if side is self.bids else 1)
        size = side.get(price, 0) + self.rng.randrange(-40, 60)
        if size > 0:
            side[price] = size
        else:
            side.pop(price, None)

    def features(self):
        bids = sorted(self.bids.items(), reverse=True)[:LEVELS]
        asks = sorted(self.asks.items())[:LEVELS]
        row = [size / 100 for _, size in bids] + [0.0] * (LEVELS - len(bids))
        row += [size / 100 for _, size in asks] + [0.0] * (LEVELS - len(asks))
        held = sum(size for _, size in bids), sum(size for _, size in asks)
        return row + [(held[0] - held[1]) / (sum(held) + 1)]


def replay(book, rows, messages=4):
    features = []
    for _ in range(rows):
        for _ in range(messages):
            book.message()
        features.append(book.features())
    return torch.tensor(features)


def main():
    torch.manual_seed(46)
    book, width = Book(), 2 * LEVELS + 1
    model = nn.Sequential(nn.Linear(width, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            with watch.planted():
                rows = replay(book, 256)
            moves = rows[:, -1:].roll(-1, 0)
            for _ in range(2):
                loss = nn.functional.huber_loss(model(rows), moves)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
