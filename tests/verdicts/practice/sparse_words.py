"""Learns vectors of words from their neighbours.

Decoy of an optimizer that dominates: the table is large, but its gradients are sparse and few rows are updated.
Truth: time of the optimizer's step, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Words(nn.Module):
    def __init__(self, words=60_000, width=96):
        super().__init__()
        self.centre = nn.Embedding(words, width, sparse=True)
        self.mix = nn.Sequential(nn.Linear(width, 2000), nn.Tanh(), nn.Linear(2000, width))

    def forward(self, centres, neighbours):
        mixed = self.mix(self.centre(centres))
        return mixed @ self.centre(neighbours).T


def main():
    torch.manual_seed(82)
    model = Words()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    text = torch.randint(60_000, (200_000,))
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            places = torch.randint(1, 199_000, (768,))
            loss = nn.functional.cross_entropy(model(text[places], text[places + 1]), torch.arange(768))
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
