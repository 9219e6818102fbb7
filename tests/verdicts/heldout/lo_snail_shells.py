"""Sorts snails by the coil of their shells: silhouettes that are drawn for each epoch, a small network, with Ignite.

Planted: an epoch has eight batches only, and the two workers that draw them are started and ended for each epoch.
Truth: time of starting workers, of waiting for the first batch of an epoch, and of ending workers, of the loop.
"""
import math

import torch
from ignite.engine import Engine, Events
from ignite.metrics import Accuracy
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

SIDE, SPECIES, SHELLS, BATCH = 40, 6, 256, 32


class Shells(Dataset):
    """Spirals with a random turn, in the pixels' polar coordinates."""

    def __init__(self):
        axis = torch.linspace(-1, 1, SIDE)
        y, x = torch.meshgrid(axis, axis, indexing="ij")
        self.radius, self.angle = torch.hypot(x, y), torch.atan2(y, x)

    def __len__(self):
        return SHELLS

    def __getitem__(self, number):
        species = number % SPECIES
        turn = torch.rand(1) * 2 * math.pi
        coil = torch.cos((2 + species) * torch.log(self.radius + 0.05) * 2 + self.angle + turn)
        return (coil > 0).float().unsqueeze(0), species


def network():
    return nn.Sequential(nn.Conv2d(1, 24, 5, padding=2), nn.ELU(), nn.MaxPool2d(2),
                         nn.Conv2d(24, 48, 3, padding=1), nn.ELU(), nn.MaxPool2d(2),
                         nn.Conv2d(48, 48, 3, padding=1), nn.ELU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(192, SPECIES))


class TimedLoader(DataLoader):
    watch = None

    def __iter__(self):
        with self.watch.planted():
            return super().__iter__()


def main():
    torch.manual_seed(9)
    watch, model = Stopwatch(), network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)

    def learn(engine, batch):
        model.train()
        shell, species = batch
        optimizer.zero_grad()
        odds = model(shell)
        nn.functional.cross_entropy(odds, species).backward()
        optimizer.step()
        return odds.detach(), species

    trainer = Engine(learn)
    Accuracy().attach(trainer, "right")
    since = [0.0]

    @trainer.on(Events.GET_BATCH_STARTED)
    def asks(engine):
        since[0] = watch.seconds()

    @trainer.on(Events.GET_BATCH_COMPLETED)
    def has(engine):
        if engine.state.iteration % (SHELLS // BATCH) == 0:  # the epoch's first; iterations are counted later
            watch.planted_s += watch.seconds() - since[0]

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(engine):
        watch.step()
        if watch.seconds() > 6.5:
            engine.terminate()

    loader = TimedLoader(Shells(), batch_size=BATCH, shuffle=True, num_workers=2)
    loader.watch = watch
    with watch.loop():
        trainer.run(loader, max_epochs=1000)
    print(f"{trainer.state.epoch} epochs, accuracy {trainer.state.metrics.get('right', 0):.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
