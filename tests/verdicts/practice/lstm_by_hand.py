"""Predicts the next bar of a drum track with an LSTM that is written with single operators; an autoencoder learns its sounds.

Planted: for each of 60 beats some thirty operators on tensors of a few hundred numbers, and as many backward.
Truth: time of its forward and backward less that of nn.LSTM of the same size, measured before, as a share of the loop.
"""
import time

import torch
from torch import nn

from stopwatch import Stopwatch

UNITS, BEATS, TRACKS = 40, 60, 6


class ByHand(nn.Module):
    def __init__(self):
        super().__init__()
        names = "ifgo"
        self.inputs = nn.ParameterDict({name: nn.Parameter(torch.randn(12, UNITS) * 0.1) for name in names})
        self.states = nn.ParameterDict({name: nn.Parameter(torch.randn(UNITS, UNITS) * 0.1) for name in names})
        self.biases = nn.ParameterDict({name: nn.Parameter(torch.zeros(UNITS)) for name in names})
        self.out = nn.Linear(UNITS, 12)

    def gate(self, name, beat, hidden):
        return beat @ self.inputs[name] + hidden @ self.states[name] + self.biases[name]

    def forward(self, tracks):
        hidden = cell = torch.zeros(TRACKS, UNITS)
        for at in range(BEATS):
            beat = tracks[:, at]
            cell = torch.sigmoid(self.gate("f", beat, hidden)) * cell + torch.sigmoid(self.gate("i", beat, hidden)) * torch.tanh(self.gate("g", beat, hidden))
            hidden = torch.sigmoid(self.gate("o", beat, hidden)) * torch.tanh(cell)
        return self.out(hidden)


def main():
    torch.manual_seed(6)
    watch = Stopwatch()
    encoder = nn.Sequential(nn.Linear(1200, 1500), nn.ReLU(), nn.Linear(1500, 1200))
    model, fused = ByHand(), nn.LSTM(12, UNITS, batch_first=True)
    optimizer = torch.optim.SGD([*encoder.parameters(), *model.parameters()], lr=0.05)
    sounds, tracks, nexts = torch.rand(170, 1200), torch.rand(TRACKS, BEATS, 12), torch.rand(TRACKS, 12)
    fused(tracks)[0].sum().backward()
    began = time.perf_counter()
    for _ in range(10):
        fused(tracks)[0].sum().backward()
    usual = (time.perf_counter() - began) / 10
    with watch.loop():
        while watch.seconds() < 6:
            optimizer.zero_grad()
            nn.functional.mse_loss(encoder(sounds), sounds).backward()
            with watch.planted():
                nn.functional.mse_loss(model(tracks), nexts).backward()
            watch.planted_s -= usual
            optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
