"""Recognises owls by their calls with Ignite.

Planted: a handler runs an evaluator over all held calls after each sixth iteration.
Truth: time of the evaluations, as a share of the loop.
"""
import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy, Loss
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch


def calls(count):
    return TensorDataset(torch.randn(count, 1, 2000), torch.randint(0, 7, (count,)))


def main():
    torch.manual_seed(8)
    watch = Stopwatch()
    model = nn.Sequential(nn.Conv1d(1, 32, 25, stride=4), nn.ReLU(), nn.Conv1d(32, 48, 9, stride=2), nn.ReLU(), nn.AdaptiveAvgPool1d(8),
                          nn.Flatten(), nn.Linear(384, 7))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    trainer = create_supervised_trainer(model, optimizer, nn.CrossEntropyLoss())
    judge = create_supervised_evaluator(model, {"accuracy": Accuracy(), "loss": Loss(nn.CrossEntropyLoss())})
    held = DataLoader(calls(400), batch_size=50)

    @trainer.on(Events.ITERATION_COMPLETED(every=6))
    def evaluate():
        with watch.planted():
            judge.run(held)

    @trainer.on(Events.ITERATION_COMPLETED)
    def count():
        watch.step()
        if watch.seconds() > 6:
            trainer.terminate()

    with watch.loop():
        trainer.run(DataLoader(calls(1600), batch_size=32, shuffle=True), max_epochs=100)
    watch.tell()


if __name__ == "__main__":
    main()
