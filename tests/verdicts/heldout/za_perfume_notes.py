"""Names the notes of a perfume from its chromatogram: a small network of convolutions, trained with Ignite.

Planted: each sample's chromatogram is drawn peak by peak in Python by the loader's only worker, which the training waits for.
Truth: time from asking for a batch to having it, of the loop.
"""
import math
import random

import torch
from ignite.engine import Engine, Events
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

NOTES, MINUTES, READINGS, BATCH = 20, 256, 14, 24


class Bottles(Dataset):
    """Bottles of mixed notes; each note has a peak with a tail at its own time; the detector reads fourteen times a minute."""

    def __len__(self):
        return 60000

    def __getitem__(self, number):
        nose = random.Random(number)
        notes = [nose.random() < 0.2 for _ in range(NOTES)]
        curve = [0.01 * nose.random() for _ in range(MINUTES * READINGS)]
        for note, present in enumerate(notes):
            if not present:
                continue
            top, wide = 10 + 12 * note + nose.random(), 2 + nose.random()
            for reading in range(READINGS * (int(top) - 10), READINGS * min(MINUTES, int(top) + 60)):
                far = (reading / READINGS - top) / wide
                curve[reading] += math.exp(-far * far) if far < 0 else math.exp(-0.4 * far)
        minutes = [sum(curve[begin:begin + READINGS]) / READINGS for begin in range(0, len(curve), READINGS)]
        return torch.tensor(minutes).unsqueeze(0), torch.tensor(notes, dtype=torch.float32)


class Nose(nn.Module):
    def __init__(self):
        super().__init__()
        self.smell = nn.Sequential(nn.Conv1d(1, 32, 9, padding=4), nn.ReLU(), nn.Conv1d(32, 48, 9, padding=4), nn.ReLU(),
                                   nn.AvgPool1d(4), nn.Conv1d(48, 48, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(16))
        self.name = nn.Linear(48 * 16, NOTES)

    def forward(self, curve):
        return self.name(self.smell(curve).flatten(1))


def main():
    torch.manual_seed(14)
    torch.set_num_threads(1)
    watch, nose = Stopwatch(), Nose()
    optimizer = torch.optim.SGD(nose.parameters(), lr=0.02, momentum=0.9, foreach=True)

    def train(engine, batch):
        curve, notes = batch
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(nose(curve), notes)
        loss.backward()
        optimizer.step()
        return loss.item()

    perfumer = Engine(train)
    asked = []

    @perfumer.on(Events.GET_BATCH_STARTED)
    def ask(engine):
        asked.append(watch.planted())
        asked[-1].__enter__()

    @perfumer.on(Events.GET_BATCH_COMPLETED)
    def have(engine):
        asked.pop().__exit__(None, None, None)

    @perfumer.on(Events.ITERATION_COMPLETED)
    def clock(engine):
        watch.step()
        if watch.seconds() > 6:
            engine.terminate()

    shelf = DataLoader(Bottles(), batch_size=BATCH, num_workers=1, shuffle=True)
    with watch.loop():
        perfumer.run(shelf, max_epochs=1)
    print(f"loss {perfumer.state.output:.4f}")
    watch.tell()


main()
