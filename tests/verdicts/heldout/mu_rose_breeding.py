"""Foretells the colour of roses from crossings of their genes: layers that mix genes and layers that mix features, in turn.

Clean: whole batches of one size from memory, one fused optimizer, one thread; the machine just computes.
Truth: time of choosing the batch, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

GENES, FEATURES, COLOURS = 64, 128, 16


class Turned(nn.Module):
    """A network over the genes in place of the features."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(GENES, 2 * GENES), nn.ReLU(), nn.Linear(2 * GENES, GENES))

    def forward(self, x):
        return x + self.body(x.transpose(1, 2)).transpose(1, 2)


class Straight(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.LayerNorm(FEATURES), nn.Linear(FEATURES, 3 * FEATURES), nn.ReLU(), nn.Linear(3 * FEATURES, FEATURES))

    def forward(self, x):
        return x + self.body(x)


def main():
    torch.manual_seed(14)
    torch.set_num_threads(1)
    watch = Stopwatch()
    model = nn.Sequential(nn.Linear(8, FEATURES), Turned(), Straight(), Turned(), Straight(), nn.Flatten(), nn.Linear(GENES * FEATURES, COLOURS))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, fused=True)
    genes = torch.randn(20, 32, GENES, 8)
    colour = torch.randint(0, COLOURS, (20, 32))
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                number = len(watch.marks) % 20
                crossing, wanted = genes[number], colour[number]
            loss = nn.functional.cross_entropy(model(crossing), wanted, label_smoothing=0.2)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


main()
