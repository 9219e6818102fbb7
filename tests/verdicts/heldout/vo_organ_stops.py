"""Hears which stops of an organ are drawn: spectra go through dense layers with gates. An organist's thread mixes the next sounds.

Planted: the trainer asks the organist for sounds and looks for them every 25 ms by time.sleep(), though they are there after one or two.
Truth: time from asking to having the sounds, of the loop.
"""
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

BINS, STOPS, BATCH = 320, 20, 320
watch = Stopwatch()


class Organist(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        draw = torch.Generator().manual_seed(20)
        self.pipes = torch.rand(STOPS, BINS, generator=draw).pow(3)
        self.noise = 0.1 * torch.randn(BATCH, BINS, generator=draw)
        self.draw = draw
        self.asked, self.desk = threading.Event(), []

    def run(self):
        while True:
            self.asked.wait()
            self.asked.clear()
            stops = (torch.rand(BATCH, STOPS, generator=self.draw) < 0.3).float()
            self.desk.append((stops @ self.pipes + self.noise, stops))

    def sounds(self):
        self.asked.set()
        while not self.desk:
            time.sleep(0.025)
        return self.desk.pop()


class Gated(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.both = nn.Linear(before, 2 * after)

    def forward(self, x):
        value, gate = self.both(x).chunk(2, 1)
        return torch.tanh(value) * torch.sigmoid(gate)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(8)
    model = nn.Sequential(Gated(BINS, 512), Gated(512, 512), Gated(512, 384), nn.Linear(384, STOPS))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    organist = Organist()
    organist.start()
    with watch.loop():
        while watch.seconds() < 6.5:
            with watch.planted():
                sound, stops = organist.sounds()
            loss = nn.functional.binary_cross_entropy_with_logits(model(sound), stops)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
