"""Learns which library books are borrowed together; the whole catalogue is in memory as Python objects.

Planted: release_memory() collects the garbage after each fourth batch, and walks through all objects each time.
Truth: time of release_memory(), of the loop.
"""
import gc
import random

import torch
from torch import nn

from stopwatch import Stopwatch

BOOKS, BATCH, WIDTH = 6_000, 448, 96


class Book:
    def __init__(self, number, source):
        self.number = number
        self.subjects = [source.randrange(600) for _ in range(3)]
        self.copies = [{"shelf": source.randrange(90), "lent": []}]


def release_memory():
    """Against the memory growing during the night."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.subjects = nn.EmbeddingBag(600, WIDTH, mode="sum")
        self.tower = nn.Sequential(nn.Linear(WIDTH, 832), nn.GELU(), nn.Linear(832, 832), nn.GELU(), nn.Linear(832, WIDTH))

    def forward(self, subjects):
        return nn.functional.normalize(self.tower(self.subjects(subjects)), dim=1)


def main():
    torch.manual_seed(13)
    source = random.Random(13)
    watch = Stopwatch()
    catalogue = [Book(number, source) for number in range(BOOKS)]
    model = Pairs()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = 0
    with watch.loop():
        while watch.seconds() < 8.5:
            borrowed = source.choices(catalogue, k=BATCH)
            left = model(torch.tensor([book.subjects for book in borrowed]))
            right = model(torch.tensor([catalogue[(book.number + 1) % BOOKS].subjects for book in borrowed]))
            likeness = left @ right.t() / 0.07
            loss = nn.functional.cross_entropy(likeness, torch.arange(BATCH))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            batches += 1
            if batches % 4 == 0:
                with watch.planted():
                    release_memory()
            watch.step()
    print(f"loss {loss.item():.3f} after {batches} batches")
    watch.tell()


if __name__ == "__main__":
    main()
