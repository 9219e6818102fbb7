"""Estimates the age of fish from rings of their ear stones, with Ignite.

Planted: an epoch has only eight batches, and for each epoch the DataLoader starts its two workers anew and ends them.
Truth: time that the loop waits for an iterator, for batches and for the workers' end, of the loop.
"""
import torch
from ignite.engine import Engine, Events
from ignite.handlers import EarlyStopping
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

BATCH, BATCHES = 32, 8
WATCH = Stopwatch()


class EarStones(Dataset):
    """Profiles of brightness, in memory; a little noise makes each one new."""

    def __init__(self):
        self.ages = torch.randint(1, 20, (BATCH * BATCHES,)).float()
        place = torch.linspace(0, 6.28, 32)
        self.rings = torch.sin(place[None] * self.ages[:, None])

    def __len__(self):
        return len(self.ages)

    def __getitem__(self, index):
        return self.rings[index] + 0.1 * torch.randn(32), self.ages[index]


class Measured:
    """The loader, with a clock."""

    def __init__(self, loader):
        self.loader = loader

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        with WATCH.planted():
            iterator = iter(self.loader)
        try:
            while True:
                with WATCH.planted():
                    batch = next(iterator, None)
                if batch is None:
                    return
                yield batch
        finally:
            with WATCH.planted():
                del iterator


class AgeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.blur = nn.Conv1d(1, 64, 5, padding=2)
        layers = [nn.Conv1d(64, 128, 5, padding=2), *(nn.Conv1d(128, 128, 5, padding=2) for _ in range(2))]
        self.rings = nn.Sequential(*[part for layer in layers for part in (nn.ReLU(), layer)], nn.ReLU(), nn.AdaptiveAvgPool1d(4))
        self.age = nn.Sequential(nn.Flatten(), nn.Linear(128 * 4, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, profile):
        return self.age(self.rings(self.blur(profile[:, None])))[:, 0]


def main():
    torch.manual_seed(35)
    model = AgeNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(EarStones(), batch_size=BATCH, shuffle=True, num_workers=2)

    def update(engine, batch):
        profile, age = batch
        optimizer.zero_grad()
        loss = nn.functional.smooth_l1_loss(model(profile), age)
        loss.backward()
        optimizer.step()
        return loss.item()

    trainer = Engine(update)
    patience = EarlyStopping(patience=500, score_function=lambda engine: -engine.state.output, trainer=trainer)
    trainer.add_event_handler(Events.EPOCH_COMPLETED, patience)

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(engine):
        WATCH.step()
        if WATCH.seconds() > 6:
            engine.terminate()

    with WATCH.loop():
        trainer.run(Measured(loader), max_epochs=1000)
    print(f"{trainer.state.epoch} epochs, the last loss {trainer.state.output:.3f}")
    WATCH.tell()


if __name__ == "__main__":
    main()
