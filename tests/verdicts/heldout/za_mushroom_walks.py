"""Tells edible from poisonous mushrooms by drawings of their caps: a network of convolutions over a Dataset that draws in Python.

Decoy: the Dataset draws point by point and the loader has no workers, yet each drawing was kept by lru_cache before the loop.
Truth: time that the loop waits for batches, of the loop.
"""
import functools
import math
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

SIDE, SPECIES = 40, 320


class Basket(Dataset):
    def __len__(self):
        return SPECIES

    @functools.lru_cache(maxsize=None)
    def __getitem__(self, number):
        draw = random.Random(number)
        deadly, spots = number % 2, [(draw.random(), draw.random()) for _ in range(6)]
        cap = [[0.0] * SIDE for _ in range(SIDE)]
        for y in range(SIDE):
            for x in range(SIDE):
                far = math.hypot(x - SIDE / 2, 2 * (y - SIDE / 2))
                cap[y][x] = 1.0 if far < SIDE / 3 else 0.1 * draw.random()
                if deadly and any(math.hypot(x / SIDE - a, y / SIDE - b) < 0.08 for a, b in spots):
                    cap[y][x] += 0.5
        return torch.tensor([cap]), deadly


class Forager(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(nn.Conv2d(1, 24, 5, padding=2), nn.SiLU(), nn.Conv2d(24, 32, 5, stride=2, padding=2), nn.SiLU(),
                                  nn.Conv2d(32, 32, 3, padding=1), nn.SiLU(), nn.AdaptiveAvgPool2d(5))
        self.eat = nn.Linear(32 * 25, 2)

    def forward(self, cap):
        return self.eat(self.look(cap).flatten(1))


def main():
    torch.manual_seed(90)
    watch, forager, basket = Stopwatch(), Forager(), Basket()
    for number in range(len(basket)):
        basket[number]
    optimizer = torch.optim.SGD(forager.parameters(), lr=1e-3, momentum=0.9, fused=True)
    loader = DataLoader(basket, batch_size=32, shuffle=True)
    with watch.loop():
        while watch.seconds() < 6:
            for cap, deadly in watch.batches(loader):
                loss = nn.functional.cross_entropy(forager(cap), deadly)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
