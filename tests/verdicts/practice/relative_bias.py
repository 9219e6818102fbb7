"""Classifies proteins with an attention whose bias depends on the distance; sequences have many lengths.

Planted: the bias of each length is computed at its first occurrence, in Python, and kept then.
Truth: time of computing biases, as a share of the loop.
"""
import functools
import math
import random

import torch
from torch import nn

from stopwatch import Stopwatch

watch = Stopwatch()


@functools.lru_cache(maxsize=None)
def bias(length):
    with watch.planted():
        return torch.tensor([[-math.log1p(abs(row - column)) * (1.0 if row > column else 0.5) for column in range(length)]
                             for row in range(length)])


class Attention(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.embedding = nn.Embedding(25, width)
        self.queries, self.keys, self.values = (nn.Linear(width, width) for _ in range(3))
        self.head = nn.Linear(width, 4)

    def forward(self, residues):
        hidden = self.embedding(residues)
        scores = self.queries(hidden) @ self.keys(hidden).transpose(1, 2) / 10 + bias(residues.shape[1])
        return self.head((scores.softmax(-1) @ self.values(hidden)).mean(1))


def main():
    torch.manual_seed(58)
    rng = random.Random(58)
    model = Attention()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watch.loop():
        while watch.seconds() < 3:
            residues = torch.randint(25, (24, rng.randrange(150, 250)))
            loss = nn.functional.cross_entropy(model(residues), torch.arange(24) % 4)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}, {bias.cache_info().currsize} lengths")
    watch.tell()


if __name__ == "__main__":
    main()
