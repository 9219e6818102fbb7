"""Reads labels of parcels: the belt hands pictures to a thread with the network and collects what it read.

Planted: the belt does not wait for an answer but looks into a dictionary, and sleeps 6 to 18 ms whenever it is not there yet;
the thread with the network has nothing to do meanwhile, because the belt moves on only when all its labels are read.
Truth: time between an answer's being there and the belt's seeing it, of the loop.
"""
import itertools
import queue
import random
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

LOOK_AGAIN_S = 0.006, 0.018  # never the same, so that belts do not look all at once


class LabelReader(nn.Module):
    def __init__(self, width=20, letters=36, places=6):
        super().__init__()
        self.eyes = nn.Sequential(
            nn.Conv2d(1, width, 5, stride=2), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(2 * width, 2 * width, 3), nn.ReLU(), nn.AdaptiveAvgPool2d((2, 6)))
        self.spell = nn.Linear(2 * width * 12, letters * places)
        self.letters, self.places = letters, places

    def forward(self, pictures):
        return self.spell(self.eyes(pictures).flatten(1)).view(-1, self.places, self.letters).argmax(-1)


class Reading(threading.Thread):
    """Owns the network; answers by ticket."""

    def __init__(self, model):
        super().__init__(daemon=True, name="reading")
        self.model, self.work, self.answers, self.done_at = model, queue.Queue(), {}, {}

    def run(self):
        torch.set_num_threads(1)
        with torch.inference_mode():
            while (job := self.work.get()) is not None:
                ticket, pictures = job
                texts = self.model(pictures).tolist()
                self.done_at[ticket] = time.perf_counter()
                self.answers[ticket] = texts


class Belt:
    def __init__(self, reading, watch):
        self.reading, self.watch, self.tickets = reading, watch, itertools.count()
        self.bins = [0] * 12

    def collect(self, ticket):
        while ticket not in self.reading.answers:
            time.sleep(random.uniform(*LOOK_AGAIN_S))
        self.watch.planted_s += time.perf_counter() - self.reading.done_at.pop(ticket)
        return self.reading.answers.pop(ticket)

    def move(self, pictures):
        ticket = next(self.tickets)
        self.reading.work.put((ticket, pictures))
        for text in self.collect(ticket):
            self.bins[sum(text) % 12] += 1


def main():
    torch.manual_seed(11)
    watch = Stopwatch()
    reading = Reading(LabelReader().eval())
    reading.start()
    belt = Belt(reading, watch)
    store = torch.rand(40, 8, 1, 64, 112)
    with watch.loop():
        while watch.seconds() < 6:
            belt.move(store[len(watch.marks) % len(store)])
            watch.step()
    reading.work.put(None)
    reading.join()
    watch.tell()


if __name__ == "__main__":
    main()
