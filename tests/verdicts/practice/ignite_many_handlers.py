"""Trains a model of traffic in Ignite with a dozen handlers.

Decoy of Python and of logging: handlers run after each iteration, and each of them does very little.
Truth: time of the handlers, as a share of the loop.
"""
import torch
from ignite.engine import Engine, Events
from ignite.metrics import RunningAverage
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(157)
    model = nn.Sequential(nn.Linear(480, 900), nn.Tanh(), nn.Linear(900, 900), nn.Tanh(), nn.Linear(900, 48))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 500)
    traffic, watch, counts = torch.randn(6000, 528), Stopwatch(), [0] * 10

    def train(_engine, chosen):
        weeks = traffic[chosen]
        loss = nn.functional.mse_loss(model(weeks[:, :480]), weeks[:, 480:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    def count(_engine, number):
        with watch.planted():
            counts[number] += 1

    trainer = Engine(train)
    RunningAverage(output_transform=lambda loss: loss).attach(trainer, "loss")
    for number in range(10):
        trainer.add_event_handler(Events.ITERATION_COMPLETED, count, number)

    @trainer.on(Events.ITERATION_COMPLETED)
    def finish(engine):
        with watch.planted():
            schedule.step()
        watch.step()
        if watch.seconds() > 3.2:
            engine.terminate()

    with watch.loop():
        trainer.run([torch.randint(6000, (128,)) for _ in range(60)], max_epochs=40)
    print(f"loss {trainer.state.metrics['loss']:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
