"""Tells tremors from footsteps by convolutions over seismograms, with Ignite.

Planted: nothing; a running loss and an accuracy are attached, as in Ignite's own examples.
Truth: time of making the next batch, of the loop.
"""
import torch
from ignite.engine import Events, create_supervised_trainer
from ignite.metrics import Accuracy, RunningAverage
from torch import nn

from stopwatch import Stopwatch

TRACES, LENGTH = 1200, 1024


def block(inputs, outputs, stride):
    return nn.Sequential(nn.Conv1d(inputs, outputs, 9, stride, 4), nn.BatchNorm1d(outputs), nn.ReLU())


class Batches:
    """All seismograms are in memory; a batch is chosen by index."""

    def __init__(self, watch, size=48):
        generator = torch.Generator().manual_seed(2)
        self.kind = torch.randint(2, (TRACES,), generator=generator)
        self.traces = torch.randn(TRACES, 3, LENGTH, generator=generator)
        self.traces += self.kind[:, None, None] * torch.sin(torch.arange(LENGTH) * 0.2)
        self.watch, self.size = watch, size

    def __iter__(self):
        while True:
            with self.watch.planted():
                chosen = torch.randint(TRACES, (self.size,))
                batch = self.traces[chosen], self.kind[chosen]
            yield batch


def main():
    torch.manual_seed(20)
    watch = Stopwatch()
    model = nn.Sequential(block(3, 32, 2), block(32, 64, 2), block(64, 64, 2), block(64, 96, 2), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(96, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    trainer = create_supervised_trainer(model, optimizer, nn.CrossEntropyLoss(),
                                        output_transform=lambda x, y, predicted, loss: {"loss": loss.item(), "predicted": predicted.detach(), "y": y})
    RunningAverage(output_transform=lambda output: output["loss"]).attach(trainer, "loss")
    Accuracy(output_transform=lambda output: (output["predicted"], output["y"])).attach(trainer, "accuracy")

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(engine):
        watch.step()
        if watch.seconds() > 6.5:
            engine.terminate()

    with watch.loop():
        trainer.run(Batches(watch), max_epochs=1, epoch_length=100_000)
    print(f"loss {trainer.state.metrics['loss']:.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
