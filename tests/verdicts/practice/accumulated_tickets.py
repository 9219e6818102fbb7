"""Sorts support tickets by their urgency; gradients of two halves of a batch are added and clipped.

Planted: nothing.
Truth: time of drawing tickets, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Urgency(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(2000, 128)
        self.mix = nn.Sequential(nn.Linear(128 * 12, 768), nn.GELU(), nn.Linear(768, 384), nn.GELU())
        self.urgency = nn.Linear(384, 5)

    def forward(self, tickets):
        return self.urgency(self.mix(self.words(tickets).flatten(1)))


def main():
    torch.manual_seed(77)
    model = Urgency()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    tickets, urgencies = torch.randint(2000, (6000, 12)), torch.randint(5, (6000,))
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            optimizer.zero_grad()
            for _ in range(2):
                with watch.planted():
                    chosen = torch.randint(6000, (256,))
                    texts, wanted = tickets[chosen], urgencies[chosen]
                loss = nn.functional.cross_entropy(model(texts), wanted) / 2
                loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
