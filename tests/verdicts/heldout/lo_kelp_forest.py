"""Estimates the mass of kelp below a boat from columns of sonar: a residual network in one dimension, with Ignite.

Planted: the evaluator runs over all held-out columns after every sixth iteration, for a curve that nobody looks at.
Truth: time of these runs, of the loop.
"""
import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import MeanAbsoluteError, RootMeanSquaredError
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

from stopwatch import Stopwatch

DEPTHS, BEAMS = 160, 4


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(width, width, 5, padding=2), nn.BatchNorm1d(width), nn.GELU(),
                                  nn.Conv1d(width, width, 5, padding=2), nn.BatchNorm1d(width))

    def forward(self, x):
        return nn.functional.gelu(x + self.body(x))


class Kelp(nn.Module):
    def __init__(self, width=32, blocks=4):
        super().__init__()
        self.stem = nn.Conv1d(BEAMS, width, 7, stride=2, padding=3)
        self.blocks = nn.Sequential(*(Residual(width) for _ in range(blocks)))
        self.mass = nn.Linear(width, 1)

    def forward(self, column):
        return self.mass(self.blocks(self.stem(column)).mean(2)).squeeze(1)


def columns(count=1200):
    generator = torch.Generator().manual_seed(31)
    top = torch.rand(count, 1, 1, generator=generator) * DEPTHS
    dense = 0.5 + torch.rand(count, 1, 1, generator=generator)
    depth = torch.arange(DEPTHS).view(1, 1, -1)
    echo = dense * torch.sigmoid((depth - top) / 4) * torch.rand(count, BEAMS, DEPTHS, generator=generator)
    return TensorDataset(echo, (dense * (DEPTHS - top) / DEPTHS).view(-1))


def main():
    torch.manual_seed(3)
    training, held_out = random_split(columns(), [960, 240])
    loader = DataLoader(training, batch_size=32, shuffle=True, drop_last=True)
    check = DataLoader(held_out, batch_size=48)
    model, watch = Kelp(), Stopwatch()
    optimizer = torch.optim.NAdam(model.parameters(), lr=2e-3)
    trainer = create_supervised_trainer(model, optimizer, nn.SmoothL1Loss())
    evaluator = create_supervised_evaluator(model, {"mae": MeanAbsoluteError(), "rmse": RootMeanSquaredError()})
    curve = []

    @trainer.on(Events.ITERATION_COMPLETED(every=6))
    def look(engine):
        with watch.planted():
            evaluator.run(check)
            curve.append((engine.state.iteration, dict(evaluator.state.metrics)))

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(engine):
        watch.step()
        if watch.seconds() > 6.5:
            engine.terminate()

    with watch.loop():
        trainer.run(loader, max_epochs=500)
    print(f"{len(curve)} points, the last {curve[-1:]}")
    watch.tell()


if __name__ == "__main__":
    main()
