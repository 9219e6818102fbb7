"""Finds which insect a piece of amber holds: a convolutional network on grey pictures, trained with Ignite.

Planted: each sixth iteration tries the network on all trial pictures, by a function that forgets torch.no_grad().
Truth: time of the evaluator's runs, of the loop.
"""
import torch
from ignite.engine import Engine, Events
from ignite.metrics import Accuracy, Loss
from torch import nn

from stopwatch import Stopwatch

INSECTS, SIDE, BATCH = 9, 32, 32


class Amber(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.tell = nn.Linear(48 * 64, INSECTS)

    def forward(self, pictures):
        return self.tell(self.look(pictures).flatten(1))


def pieces(count):
    insect = torch.randint(INSECTS, (count, BATCH))
    pictures = torch.randn(count, BATCH, 1, SIDE, SIDE)
    rows = insect * 3
    pictures += (torch.arange(SIDE) == rows[..., None]).float()[:, :, None, :, None] * 1.5
    return list(zip(pictures, insect))


def main():
    torch.manual_seed(7)
    model, watch = Amber(), Stopwatch()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, fused=True)
    criterion = nn.CrossEntropyLoss()
    found, trials = pieces(60), pieces(4)

    def learn(engine, batch):
        model.train()
        optimizer.zero_grad()
        loss = criterion(model(batch[0]), batch[1])
        loss.backward()
        optimizer.step()
        return loss.item()

    def judge(engine, batch):
        model.eval()
        return model(batch[0]), batch[1]

    trainer, evaluator = Engine(learn), Engine(judge)
    Accuracy().attach(evaluator, "accuracy")
    Loss(criterion).attach(evaluator, "loss")

    @trainer.on(Events.ITERATION_COMPLETED(every=6))
    def validate(engine):
        with watch.planted():
            evaluator.run(trials)

    @trainer.on(Events.ITERATION_COMPLETED)
    def mark(engine):
        watch.step()
        if watch.seconds() > 6:
            engine.terminate()

    with watch.loop():
        trainer.run(found, max_epochs=1000)
    watch.tell()


main()
