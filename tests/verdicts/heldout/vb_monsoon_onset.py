"""Says in how many days the monsoon begins: a network of residual convolutions over maps of moisture and wind, with
engines of Ignite.

Planted: the evaluator's step is written by hand and forgets no_grad(), and it runs over the late years every 4 iterations.
Truth: time of these runs, of the loop.
"""
import torch
from ignite.engine import Engine, Events
from ignite.handlers import EarlyStopping
from ignite.metrics import Loss, MeanAbsoluteError
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

from stopwatch import Stopwatch

CHANNELS, HIGH, WIDE = 4, 12, 16


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.one, self.two = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.GroupNorm(4, width)

    def forward(self, x):
        return x + self.two(nn.functional.silu(self.one(self.norm(x))))


class Onset(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.maps = nn.Sequential(nn.Conv2d(CHANNELS, width, 3, padding=1), Block(width), nn.AvgPool2d(2), Block(width))
        self.days = nn.Linear(width, 1)

    def forward(self, x):
        return self.days(self.maps(x).mean((2, 3))).squeeze(1)


def years(count=640):
    generator = torch.Generator().manual_seed(19)
    days = torch.rand(count, generator=generator)
    maps = torch.randn(count, CHANNELS, HIGH, WIDE, generator=generator)
    maps[:, 0] += days.view(-1, 1, 1) * torch.linspace(-1, 1, HIGH).view(1, -1, 1)
    return TensorDataset(maps, days)


class Campaign:
    """The trainer, the judge and what joins them."""

    def __init__(self, watch):
        self.watch, self.model = watch, Onset()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.02, momentum=0.9, nesterov=True)
        data = years()
        self.early = DataLoader(Subset(data, range(448)), batch_size=16, shuffle=True)
        self.late = DataLoader(Subset(data, range(448, 640)), batch_size=16)
        self.trainer, self.judge = Engine(self.train), Engine(self.predict)
        MeanAbsoluteError().attach(self.judge, "days")
        Loss(nn.functional.smooth_l1_loss).attach(self.judge, "loss")
        self.judge.add_event_handler(Events.COMPLETED, EarlyStopping(10**6, lambda e: -e.state.metrics["loss"], self.trainer))
        self.trainer.add_event_handler(Events.ITERATION_COMPLETED(every=4), self.judge_now)
        self.trainer.add_event_handler(Events.ITERATION_COMPLETED, self.count)

    def train(self, engine, batch):
        self.model.train()
        maps, days = batch
        self.optimizer.zero_grad()
        loss = nn.functional.smooth_l1_loss(self.model(maps), days)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def predict(self, engine, batch):
        self.model.eval()
        maps, days = batch
        return self.model(maps), days

    def judge_now(self, engine):
        with self.watch.planted():
            self.judge.run(self.late)

    def count(self, engine):
        self.watch.step()
        if self.watch.seconds() > 6.5:
            engine.terminate()


def main():
    torch.manual_seed(5)
    watch = Stopwatch()
    campaign = Campaign(watch)
    with watch.loop():
        campaign.trainer.run(campaign.early, max_epochs=1000)
    print(campaign.judge.state.metrics)
    watch.tell()


if __name__ == "__main__":
    main()
