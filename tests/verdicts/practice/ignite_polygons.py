"""Counts the corners of polygons with Ignite, with a running average of the loss.

Planted: nothing.
Truth: time of Ignite's handlers and of getting batches, of the trainer's run.
"""
import torch
from ignite.engine import Engine, Events
from ignite.metrics import RunningAverage
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(235)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(784, 900), nn.LeakyReLU(), nn.LayerNorm(900), nn.Linear(900, 600), nn.LeakyReLU(), nn.Linear(600, 9))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    polygons, watch = torch.rand(250, 256, 784), Stopwatch()
    updates = []

    def update(_engine, batch):
        began = watch.seconds()
        loss = nn.functional.cross_entropy(model(batch), (batch[:, 0] * 9).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        value = loss.item()
        updates.append(watch.seconds() - began)
        return value

    trainer = Engine(update)
    RunningAverage(output_transform=lambda loss: loss).attach(trainer, "loss")

    @trainer.on(Events.ITERATION_COMPLETED)
    def end_step(_engine):
        watch.step()
        if watch.seconds() > 3.4:
            trainer.terminate()

    with watch.loop():
        trainer.run(polygons, max_epochs=5)
    print(f"loss {trainer.state.metrics['loss']:.3f}")
    watch.tell(1 - sum(updates) / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
