"""Composes for street organs: a network of causal convolutions learns which chord of three thousand comes next on a roll.

Planted: the loss multiplies by a table of zeros and a one for each chord and place, made anew as integers and turned to floats.
Truth: time of making the table, multiplying by it and adding up, without that part of the backward pass, of the loop.
"""
import torch
from torch import nn
from torch.nn import functional as F

from stopwatch import Stopwatch

CHORDS, PLACES, ROLLS, WIDTH = 3000, 64, 24, 64


class Organ(nn.Module):
    def __init__(self):
        super().__init__()
        self.chords = nn.Embedding(CHORDS, WIDTH)
        self.layers = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, 2, dilation=2**k) for k in range(4))
        self.next = nn.Linear(WIDTH, CHORDS)

    def forward(self, roll):
        x = self.chords(roll).transpose(1, 2)
        for layer in self.layers:
            x = x + torch.relu(layer(F.pad(x, (layer.dilation[0], 0))))
        return self.next(x.transpose(1, 2))


def surprise(scores, played, watch):
    """How much the organ wonders about what was played."""
    chances = F.log_softmax(scores, -1)
    with watch.planted():
        table = F.one_hot(played, CHORDS).float()
        return -(table * chances).sum(-1).mean()


def main():
    torch.manual_seed(33)
    torch.set_num_threads(1)
    watch, organ = Stopwatch(), Organ()
    optimizer = torch.optim.SGD(organ.parameters(), lr=0.05)
    rolls = torch.randint(CHORDS, (16, ROLLS, PLACES + 1))
    with watch.loop():
        for number in watch.limited(range(100000), 6.5):
            roll = rolls[number % len(rolls)]
            loss = surprise(organ(roll[:, :-1]), roll[:, 1:], watch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"surprise {loss.item():.4f}")
    watch.tell()


main()
