"""Counts limpets in pictures of tide pools, with Ignite.

Decoy: a running average, a metric and a terminal line each fiftieth iteration, which cost little.
Truth: time of the handler that prints, as a share of the loop.
"""
import torch
from ignite.engine import Engine, Events
from ignite.metrics import RunningAverage
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(17)
    watch = Stopwatch()
    model = nn.Sequential(nn.Conv2d(3, 32, 5), nn.ReLU(), nn.Conv2d(32, 48, 3, stride=2), nn.ReLU(), nn.Conv2d(48, 48, 3), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    pools = [(torch.rand(12, 3, 64, 64), torch.rand(12, 1)) for _ in range(10)]

    def train(_, batch):
        pictures, limpets = batch
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(pictures), limpets)
        loss.backward()
        optimizer.step()
        return loss.item()

    trainer = Engine(train)
    RunningAverage(output_transform=float).attach(trainer, "loss")

    @trainer.on(Events.ITERATION_COMPLETED)
    def mark(engine):
        with watch.planted():
            if engine.state.iteration % 50 == 0:
                print(engine.state.iteration, engine.state.metrics["loss"], flush=True)
        watch.step()
        if watch.seconds() > 6:
            engine.terminate()

    with watch.loop():
        trainer.run(pools, max_epochs=1000)
    watch.tell()


if __name__ == "__main__":
    main()
