"""Forecasts the growth of reeds at 60 gauges, each with a small network of its own, with Lightning.

Planted: a callback averages the weights after each batch, tensor by tensor of state_dict(), with four operators for each.
Truth: time of this callback, of the loop.
"""
import logging
import time
import warnings

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

GAUGES, SEEN = 60, 48


class WeightAverage(lightning.Callback):
    def __init__(self, watch, decay=0.995):
        self.watch, self.decay, self.shadow = watch, decay, {}

    def on_train_start(self, trainer, module):
        self.shadow = {name: value.detach().clone() for name, value in module.state_dict().items()}

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        with self.watch.planted():
            for name, value in module.state_dict().items():
                self.shadow[name] = self.decay * self.shadow[name] + (1 - self.decay) * value.detach().clone()


class StopInTime(lightning.Callback):
    def __init__(self, watch):
        self.watch = watch

    def on_train_start(self, trainer, module):
        self.watch.began = time.perf_counter()  # without Lightning's start

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        self.watch.step()
        if self.watch.seconds() > 7:
            trainer.should_stop = True


class Reeds(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.gauges = nn.ModuleList(nn.Sequential(nn.Linear(SEEN, 64), nn.ReLU(), nn.Linear(64, 1)) for _ in range(GAUGES))

    def forward(self, levels):
        return torch.cat([gauge(levels[:, at]) for at, gauge in enumerate(self.gauges)], 1)

    def training_step(self, batch, number):
        levels, grown = batch
        return nn.functional.huber_loss(self(levels), grown)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.9)


def main():
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    torch.manual_seed(10)
    watch = Stopwatch()
    levels = torch.randn(2048, GAUGES, SEEN)
    grown = levels.mean(2) + 0.1 * torch.randn(2048, GAUGES)
    loader = DataLoader(TensorDataset(levels, grown), batch_size=None, sampler=torch.utils.data.BatchSampler(
        torch.utils.data.RandomSampler(range(2048)), 64, drop_last=True))
    model = Reeds()
    average = WeightAverage(watch)
    trainer = lightning.Trainer(max_epochs=-1, accelerator="cpu", logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False,
                                callbacks=[average, StopInTime(watch)])
    with watch.loop():
        trainer.fit(model, loader)
    difference = sum((value - average.shadow[name]).abs().sum().item() for name, value in model.state_dict().items())
    print(f"average is {difference:.2f} away")
    watch.tell()


if __name__ == "__main__":
    main()
