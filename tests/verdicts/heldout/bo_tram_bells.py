"""Hears from its bell which tram comes: mel-like bands and a two-way recurrent net over short recordings, trained on one thread.

Decoy: a nested loop in Python over bands and bins, time.sleep, a list that grows, .item() and a trial with graphs; but cached, rare or tiny.
Truth: time of the bands' loop, the sleeps, the list, the reading of the loss and the trials, of the loop.
"""
import functools
import time

import torch
from torch import nn

from stopwatch import Stopwatch

BINS, BANDS, WINDOWS, TRAMS, BATCH = 257, 48, 40, 9, 24
watch = Stopwatch()


@functools.lru_cache(maxsize=4)
def filters(low, high):
    """Triangles on a scale of logarithms, bin by bin."""
    edges = [low * (high / low) ** (i / (BANDS + 1)) for i in range(BANDS + 2)]
    bank = torch.zeros(BINS, BANDS)
    for band in range(BANDS):
        left, middle, right = edges[band:band + 3]
        for number in range(BINS):
            up, down = (number - left) / (middle - left), (right - number) / (right - middle)
            bank[number, band] = max(0.0, min(up, down))
    return bank


class Ear(nn.Module):
    def __init__(self, width=80):
        super().__init__()
        self.clean = nn.LayerNorm(BANDS)
        self.listen = nn.GRU(BANDS, width, 2, batch_first=True, bidirectional=True)
        self.say = nn.Linear(2 * width, TRAMS)

    def forward(self, spectra):
        with watch.planted():
            bank = filters(4.0, 250.0)
        heard, _ = self.listen(self.clean((spectra @ bank + 1e-3).log()))
        return self.say(heard.mean(1))


class Diary:
    def __init__(self):
        self.losses = []

    def note(self, loss):
        with watch.planted():
            self.losses.append(loss.item())
            if len(self.losses) % 20 == 0:
                time.sleep(0.001)  # lets the recorder breathe
                print(f"{len(self.losses)}: {sum(self.losses[-20:]) / 20:.3f}", flush=True)


def recordings():
    tram = torch.arange(12 * BATCH) % TRAMS
    pitch = 10 + 20 * tram[:, None, None] + 4 * torch.rand(len(tram), WINDOWS, 1)
    spectra = (-(torch.arange(BINS) - pitch).abs() / 6).exp() + 0.3 * torch.rand(len(tram), WINDOWS, BINS)
    return spectra.split(BATCH), tram.split(BATCH)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(13)
    spectra, trams = recordings()
    ear, diary = Ear(), Diary()
    optimizer = torch.optim.Adam(ear.parameters(), lr=1e-3, fused=True)
    filters(4.0, 250.0)
    for warm in range(2):
        nn.functional.cross_entropy(ear(spectra[warm]), trams[warm]).backward()
    watch.planted_s = 0.0
    with watch.loop():
        while watch.seconds() < 6.5:
            number = len(watch.marks) % len(spectra)
            loss = nn.functional.cross_entropy(ear(spectra[number]), trams[number])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            diary.note(loss)
            if len(watch.marks) % 60 == 59:
                began, before = time.perf_counter(), watch.planted_s
                right = (ear(spectra[0]).argmax(1) == trams[0]).float().mean()
                watch.planted_s = before + time.perf_counter() - began
            watch.step()
    print(f"right {right.item():.2f}")
    watch.tell()


main()
