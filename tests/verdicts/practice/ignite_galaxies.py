"""Sorts galaxies with Ignite, from pictures that are turned and dimmed at random.

Planted: the pictures are prepared with numpy by a DataLoader without workers.
Truth: time between the events of asking for a batch and getting it, as a share of the loop.
"""
import time

import numpy as np
import torch
from ignite.engine import Engine, Events
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Galaxies(Dataset):
    def __init__(self):
        self.random = np.random.default_rng(129)
        self.pictures = self.random.integers(0, 255, (200, 96, 96), dtype=np.uint8)

    def __len__(self):
        return 24 * 200

    def __getitem__(self, index):
        picture = self.pictures[index % 200].astype(np.float64) / 255
        picture = np.rot90(picture, self.random.integers(4)) ** self.random.uniform(0.7, 1.4)
        picture = np.roll(picture, self.random.integers(-8, 8, 2), (0, 1))[16:80, 16:80]
        return torch.tensor((picture - picture.mean()) / picture.std(), dtype=torch.float32)[None], index % 3


def main():
    torch.manual_seed(129)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(1, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(3))
    model(torch.rand(1, 1, 64, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch, asked = Stopwatch(), [0.0]

    def train(_engine, batch):
        model.train()
        loss = nn.functional.cross_entropy(model(batch[0]), batch[1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    trainer = Engine(train)

    @trainer.on(Events.GET_BATCH_STARTED)
    def asks(_engine):
        asked[0] = time.perf_counter()

    @trainer.on(Events.GET_BATCH_COMPLETED)
    def has(_engine):
        watch.planted_s += time.perf_counter() - asked[0]

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(engine):
        watch.step()
        if watch.seconds() > 3.2:
            engine.terminate()

    with watch.loop():
        trainer.run(DataLoader(Galaxies(), batch_size=24), max_epochs=2)
    print(f"loss {trainer.state.output:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
