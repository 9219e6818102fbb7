"""Hears which strings of a harp were plucked: a recurrent network over frames of a spectrum.

Clean: nothing is planted; whole batches of one length come from memory.
Truth: nothing comes near a cause, 0.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

STRINGS, BINS, FRAMES, BATCH = 34, 80, 40, 32


class Harp(nn.Module):
    def __init__(self):
        super().__init__()
        self.hear = nn.LSTM(BINS, 160, batch_first=True)
        self.strings = nn.Linear(160, STRINGS)

    def forward(self, frames):
        heard, _ = self.hear(frames)
        return self.strings(heard)


def main():
    torch.manual_seed(33)
    harp, watch = Harp(), Stopwatch()
    optimizer = torch.optim.Adam(harp.parameters(), lr=1e-3, fused=True)
    plucked = (torch.rand(24, BATCH, FRAMES, STRINGS) < 0.08).float()
    spectra = plucked @ torch.rand(STRINGS, BINS) + 0.1 * torch.randn(24, BATCH, FRAMES, BINS)
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            loss = nn.functional.binary_cross_entropy_with_logits(harp(spectra[number % 24]), plucked[number % 24])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
