"""Classifies digits with Ignite.

Planted: every tenth iteration the whole validation set is evaluated.
Truth: time of the evaluator's runs, of the trainer's.
"""
import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy, Loss
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch


def digits(count, seed):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(10, (count,), generator=generator)
    images = torch.rand(count, 1, 28, 28, generator=generator) + labels.view(-1, 1, 1, 1) / 10
    return TensorDataset(images, labels)


def main():
    torch.manual_seed(12)
    model = nn.Sequential(nn.Conv2d(1, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 5), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10))
    criterion = nn.CrossEntropyLoss()
    trainer = create_supervised_trainer(model, torch.optim.SGD(model.parameters(), lr=0.05), criterion)
    evaluator = create_supervised_evaluator(model, metrics={"accuracy": Accuracy(), "loss": Loss(criterion)})
    training = DataLoader(digits(6400, 1), batch_size=64, shuffle=True)
    validation = DataLoader(digits(1500, 2), batch_size=100)
    watch = Stopwatch()

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(_engine):
        watch.step()
        if watch.seconds() > 9:
            trainer.terminate()

    @trainer.on(Events.ITERATION_COMPLETED(every=10))
    def validate(_engine):
        with watch.planted():
            evaluator.run(validation)

    @trainer.on(Events.EPOCH_COMPLETED)
    def tell(engine):
        print(f"epoch {engine.state.epoch} accuracy {evaluator.state.metrics['accuracy']:.3f}")

    with watch.loop():
        trainer.run(training, max_epochs=50)
    watch.tell()


if __name__ == "__main__":
    main()
