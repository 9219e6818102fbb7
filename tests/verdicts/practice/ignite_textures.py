"""Classifies textures with Ignite; two workers prepare the batches in good time.

Planted: nothing.
Truth: time that the trainer waits for batches, of its run.
"""
import torch
from ignite.engine import Engine, Events
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Textures(Dataset):
    def __init__(self, count):
        self.patterns = torch.rand(64, 3, 64, 64, generator=torch.Generator().manual_seed(24))
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.patterns[index % 64].flip(index % 2 + 1), index % 64 % 8


def main():
    torch.manual_seed(24)
    model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    loader = DataLoader(Textures(32 * 200), batch_size=32, shuffle=True, num_workers=2, persistent_workers=True)
    watch = Stopwatch()

    def update(_engine, batch):
        images, labels = batch
        model.train()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    trainer = Engine(update)
    waiting = []

    @trainer.on(Events.GET_BATCH_STARTED)
    def wait(_engine):
        waiting.append(watch.seconds())

    @trainer.on(Events.GET_BATCH_COMPLETED)
    def got(_engine):
        if len(waiting) > 1:  # the first wait starts the workers
            watch.planted_s += watch.seconds() - waiting[-1]

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(_engine):
        watch.step()
        if watch.seconds() > 10:
            trainer.terminate()

    with watch.loop():
        trainer.run(loader, max_epochs=1)
    print(f"loss {trainer.state.output:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
