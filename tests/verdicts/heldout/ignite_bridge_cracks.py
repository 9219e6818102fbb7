"""Finds cracks in pictures of bridges, with Ignite.

Planted: the whole validation set is evaluated after each tenth iteration.
Truth: time of the evaluator's runs, of the loop.
"""
import torch
from ignite.engine import Engine, Events, create_supervised_evaluator
from ignite.metrics import Accuracy, Loss
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

SIDE = 40


def pictures(count, seed):
    generator = torch.Generator().manual_seed(seed)
    walls = torch.randn(count, 1, SIDE, SIDE, generator=generator)
    cracked = torch.randint(0, 2, (count,), generator=generator)
    walls[cracked == 1, :, SIDE // 2] -= 1.5
    return TensorDataset(walls, cracked)


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 2))


def main():
    torch.manual_seed(2)
    watch = Stopwatch()
    model, criterion = network(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True)

    def update(engine, batch):
        model.train()
        walls, cracked = batch
        optimizer.zero_grad()
        loss = criterion(model(walls), cracked)
        loss.backward()
        optimizer.step()
        return loss.item()

    trainer = Engine(update)
    evaluator = create_supervised_evaluator(model, metrics={"accuracy": Accuracy(), "loss": Loss(criterion)})
    validation = DataLoader(pictures(512, 3), batch_size=64)
    history = []

    @trainer.on(Events.ITERATION_COMPLETED(every=10))
    def validate(engine):
        with watch.planted():
            evaluator.run(validation)
        history.append(evaluator.state.metrics["accuracy"])

    @trainer.on(Events.ITERATION_COMPLETED)
    def mind_the_time(engine):
        watch.step()
        if watch.seconds() > 6.5:
            engine.terminate()

    with watch.loop():
        trainer.run(DataLoader(pictures(1024, 1), batch_size=32, shuffle=True), max_epochs=10000)
    print(f"accuracy {max(history, default=0):.2f} in {len(history)} evaluations")
    watch.tell()


if __name__ == "__main__":
    main()
