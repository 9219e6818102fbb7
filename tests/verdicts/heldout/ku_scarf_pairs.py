"""Finds scarves that go with coats: two towers that learn from pairs, each other pair of the batch being a wrong one.

Clean: batches of one size from memory, dense layers, plain gradient descent.
Truth: time in which a batch is picked, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

BATCH, COAT, SCARF = 512, 160, 120


def tower(facts):
    return nn.Sequential(nn.Linear(facts, 512), nn.Tanh(), nn.Linear(512, 384), nn.Tanh(), nn.Linear(384, 128))


class Wardrobe:
    def __init__(self, count=8192):
        taste = torch.randn(count, 24)
        self.coats = taste @ torch.randn(24, COAT) / 5 + 0.1 * torch.randn(count, COAT)
        self.scarves = taste @ torch.randn(24, SCARF) / 5 + 0.1 * torch.randn(count, SCARF)

    def pairs(self, number):
        start = number * BATCH % len(self.coats)
        return self.coats[start:start + BATCH], self.scarves[start:start + BATCH]


def main():
    torch.manual_seed(9)
    wardrobe, coats, scarves, watch = Wardrobe(), tower(COAT), tower(SCARF), Stopwatch()
    optimizer = torch.optim.SGD([*coats.parameters(), *scarves.parameters()], lr=0.05)
    which = torch.arange(BATCH)
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            with watch.planted():
                coat, scarf = wardrobe.pairs(number)
            alike = coats(coat) @ scarves(scarf).t() / 12
            loss = nn.functional.cross_entropy(alike, which) + nn.functional.cross_entropy(alike.t(), which)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
