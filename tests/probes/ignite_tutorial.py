"""Ignite's tutorial "How to do time profiling" on the digits of examples/resnet18.

usage: ignite_tutorial.py ignite|dwell|both [--small]

The tutorial's commands in its order, with the profilers of ignite.handlers, those of
dwell.ignite (the import line is all that differs), or both attached to the same trainer.
--small: a convolution and a pause of 25 ms in place of ResNet-18. Writes basic_*.csv and handlers_*.csv here.
"""
import importlib
import os
import sys
import time

import numpy as np
import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy, Loss
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "resnet18", "data"))
from make_digits import SIDE_OUT, read_sets  # noqa: E402


def digits(images, labels):
    images = np.frombuffer(b"".join(images), np.uint8).reshape(-1, 1, SIDE_OUT, SIDE_OUT) / 255.0
    return TensorDataset((torch.tensor(images, dtype=torch.float32) - 0.1307) / 0.3081, torch.tensor(labels))


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet18():
    """Torchvision's, with a first convolution of one channel."""
    layers = [nn.Conv2d(1, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(inputs, outputs, stride), Block(outputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


class Pause(nn.Module):
    def forward(self, x):
        time.sleep(0.025)
        return x


def small():
    return nn.Sequential(Pause(), nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(7), nn.Flatten(),
                         nn.Linear(392, 10))


def make_trainer(train_loader, val_loader, model):
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.005)
    criterion = nn.CrossEntropyLoss()
    trainer = create_supervised_trainer(model, optimizer, criterion)
    evaluator = create_supervised_evaluator(model, metrics={"accuracy": Accuracy(), "loss": Loss(criterion)})

    def log(kind, loader):
        evaluator.run(loader)
        metrics = evaluator.state.metrics
        print(f"{kind} Results - Epoch[{trainer.state.epoch}] Avg accuracy: {metrics['accuracy']:.2f} "
              f"Avg loss: {metrics['loss']:.2f}")

    @trainer.on(Events.EPOCH_COMPLETED)
    def log_training_results(trainer):
        log("Training", train_loader)

    @trainer.on(Events.EPOCH_COMPLETED)
    def log_validation_results(trainer):
        log("Validation", val_loader)

    @trainer.on(Events.EPOCH_COMPLETED)
    def log_epoch_time():
        print(f"Epoch {trainer.state.epoch}, Time Taken : {trainer.state.times['EPOCH_COMPLETED']}")

    @trainer.on(Events.COMPLETED)
    def log_total_time():
        print(f"Total Time: {trainer.state.times['COMPLETED']}")

    return trainer


def profile(which, make_model):
    """Runs the tutorial; the attached profilers by "ignite basic", "dwell handlers", ..."""
    torch.manual_seed(1)
    sets = {name: digits(*read) for name, read in read_sets().items()}
    train_loader = DataLoader(sets["train"], batch_size=128, shuffle=True)
    trainer = make_trainer(train_loader, DataLoader(sets["t10k"], batch_size=256), make_model())
    modules = {"ignite": "ignite.handlers", "dwell": "dwell.ignite"}
    wanted = list(modules) if which == "both" else [which]
    profilers = {}
    for kind, name in (("basic", "BasicTimeProfiler"), ("handlers", "HandlersTimeProfiler")):
        for module in wanted:
            profilers[f"{module} {kind}"] = profiler = getattr(importlib.import_module(modules[module]), name)()
            profiler.attach(trainer)
        trainer.run(train_loader, max_epochs=2)
        for module in wanted:
            profiler = profilers[f"{module} {kind}"]
            print(f"\n{module}: {name}")
            profiler.print_results(profiler.get_results())
            profiler.write_results(f"{kind}_{module}.csv")
            profiler.seen = profiler.get_results()
    return profilers


if __name__ == "__main__":
    profile(sys.argv[1], small if "--small" in sys.argv else resnet18)
