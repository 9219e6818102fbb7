"""Learns embeddings of 150,000 items from pairs that were bought together.

Planted: a dense Adam updates the whole table for a batch of 512 pairs.
Truth: time of optimizer.step(), as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

ITEMS, WIDTH, PAIRS = 150_000, 64, 512


class Skipgram(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, WIDTH)
        self.items.weight.data *= 0.1

    def forward(self, left, right, other):
        left, right, other = self.items(torch.stack([left, right, other]))
        together = nn.functional.logsigmoid((left * right).sum(1))
        apart = nn.functional.logsigmoid(-(left * other).sum(1))
        return -(together + apart).mean()


def main():
    torch.manual_seed(21)
    model = Skipgram()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 9:
            left = torch.randint(ITEMS, (PAIRS,))
            loss = model(left, (left + 1) % ITEMS, torch.randint(ITEMS, (PAIRS,)))
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
