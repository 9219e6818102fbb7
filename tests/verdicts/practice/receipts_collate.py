"""Reads the totals of receipts from their characters; receipts have many lengths.

Planted: the worker pads and masks each batch in a Python loop over characters, which takes longer than a step.
Truth: time that the loop waits for the next batch.
"""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader

from stopwatch import Stopwatch

LONGEST = 120


def make_receipts(count):
    rng = random.Random(6)
    return [([rng.randrange(1, 96) for _ in range(rng.randrange(100, LONGEST))], rng.random()) for _ in range(count)]


def collate(receipts):
    characters = torch.zeros(len(receipts), LONGEST, dtype=torch.long)
    mask = torch.zeros(len(receipts), LONGEST)
    for row, (text, _) in enumerate(receipts):
        for place, character in enumerate(text):
            characters[row, place] = character
            mask[row, place] = 1.0
    return characters, mask, torch.tensor([total for _, total in receipts])


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(96, 32)
        self.body = nn.Sequential(nn.Conv1d(32, 48, 5, padding=2), nn.ReLU(), nn.Conv1d(48, 48, 5, padding=2), nn.ReLU())
        self.head = nn.Linear(48, 1)

    def forward(self, characters, mask):
        hidden = self.body(self.embedding(characters).transpose(1, 2)) * mask[:, None]
        return self.head(hidden.sum(2) / mask.sum(1, keepdim=True)).squeeze(1)


def main():
    torch.manual_seed(42)
    torch.set_num_threads(1)
    model = Reader()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(make_receipts(800), batch_size=16, shuffle=True, collate_fn=collate, num_workers=1, persistent_workers=True)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            for characters, mask, totals in watch.limited(watch.batches(loader), 3):
                loss = nn.functional.mse_loss(model(characters, mask), totals)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
