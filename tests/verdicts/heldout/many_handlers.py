"""Counts seedlings on pictures from a greenhouse, with Ignite.

Decoy: many handlers run in each iteration, and look like much; but they are done in a moment.
Truth: all time from the end of one update to the begin of the next, of the loop.
"""
import time
from collections import deque

import torch
from ignite.engine import Engine, Events
from ignite.handlers import CosineAnnealingScheduler, TerminateOnNan, Timer
from ignite.metrics import RunningAverage
from torch import nn

from stopwatch import Stopwatch

BATCH, EDGE, WIDTH = 20, 20, 56


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaves = nn.Sequential(
            nn.Conv2d(3, WIDTH, 3, padding=1), nn.ReLU(), nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.ReLU(),
            nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.ReLU(), nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.ReLU())
        self.density = nn.Conv2d(WIDTH, 1, 1)

    def forward(self, picture):
        return nn.functional.softplus(self.density(self.leaves(picture))).sum((1, 2, 3))


class Health:
    """Small watchers that the greenhouse's people wished for in the course of time."""

    def __init__(self, model):
        self.model, self.losses, self.events = model, deque(maxlen=100), 0

    def watch_loss(self, engine):
        self.losses.append(engine.state.output)

    def watch_trend(self, _):
        if len(self.losses) == 100 and min(list(self.losses)[:50]) < min(list(self.losses)[50:]) / 4:
            print("the loss rises")

    def watch_bias(self, _):
        self.bias = self.model.density.bias.item()

    def watch_events(self, _):
        self.events += 1


def main():
    torch.manual_seed(36)
    watch = Stopwatch()
    model = Counter()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5, momentum=0.9)
    greenhouse = torch.rand(12, BATCH, 3, EDGE, EDGE)
    seedlings = torch.randint(0, 30, (12, BATCH)).float()
    ended = []

    def update(engine, number):
        if ended:
            watch.planted_s += time.perf_counter() - ended.pop()
        optimizer.zero_grad()
        loss = nn.functional.smooth_l1_loss(model(greenhouse[number]), seedlings[number])
        loss.backward()
        optimizer.step()
        ended.append(time.perf_counter())
        return loss.item()

    trainer, health = Engine(update), Health(model)
    trainer.add_event_handler(Events.ITERATION_COMPLETED, TerminateOnNan())
    trainer.add_event_handler(Events.ITERATION_STARTED, CosineAnnealingScheduler(optimizer, "lr", 1e-5, 1e-6, 400))
    RunningAverage(output_transform=lambda loss: loss).attach(trainer, "average")
    Timer(average=True).attach(trainer, resume=Events.ITERATION_STARTED, pause=Events.ITERATION_COMPLETED,
                               step=Events.ITERATION_COMPLETED)
    for event in (Events.ITERATION_STARTED, Events.ITERATION_COMPLETED, Events.GET_BATCH_COMPLETED):
        for handler in (health.watch_events, health.watch_bias, health.watch_trend):
            trainer.add_event_handler(event, handler)
    trainer.add_event_handler(Events.ITERATION_COMPLETED, health.watch_loss)

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(engine):
        watch.step()
        if watch.seconds() > 6:
            engine.terminate()

    with watch.loop():
        trainer.run(list(range(len(greenhouse))), max_epochs=1000)
    print(f"average loss {trainer.state.metrics['average']:.3f}, {health.events} events")
    watch.tell()


if __name__ == "__main__":
    main()
