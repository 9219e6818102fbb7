"""Forecasts how wildfires spread on a grid, with Lightning.

Planted: all of the validation set, which is twice as many fires as what is learnt in between, is run after each 10th batch.
Truth: time of validation, of the loop.
"""
import logging
import time
import warnings

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch


class Clock(lightning.Callback):
    def __init__(self, watch):
        self.watch, self.validation_began = watch, 0.0

    def on_train_start(self, trainer, module):
        self.watch.began = time.perf_counter()

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        self.watch.step()
        if self.watch.seconds() > 7:
            trainer.should_stop = True

    def on_validation_start(self, trainer, module):
        self.validation_began = time.perf_counter()

    def on_validation_end(self, trainer, module):
        if not trainer.sanity_checking:
            self.watch.planted_s += time.perf_counter() - self.validation_began


class Wildfire(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(5, 24, 3, padding=1), nn.GELU(), nn.Conv2d(24, 24, 3, padding=1), nn.GELU(), nn.Conv2d(24, 1, 1))

    def training_step(self, batch, number):
        weather, burnt = batch
        return nn.functional.binary_cross_entropy_with_logits(self.net(weather), burnt)

    def validation_step(self, batch, number):
        weather, burnt = batch
        chance = self.net(weather).sigmoid()
        hit = ((chance > 0.5) & (burnt > 0.5)).sum() / burnt.sum().clamp(min=1)
        self.log("hit_rate", hit)
        self.log("brier", ((chance - burnt) ** 2).mean())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def fires(count, seed):
    weather = torch.rand(count, 5, 40, 40, generator=torch.Generator().manual_seed(seed))
    return TensorDataset(weather, (weather[:, :1] * weather[:, 1:2] > 0.4).float())


def whole(data, batch_size, shuffle):
    sampler = torch.utils.data.RandomSampler(data) if shuffle else torch.utils.data.SequentialSampler(data)
    return DataLoader(data, batch_size=None, sampler=torch.utils.data.BatchSampler(sampler, batch_size, drop_last=True))


def main():
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    torch.manual_seed(6)
    watch = Stopwatch()
    trainer = lightning.Trainer(max_epochs=-1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                                enable_model_summary=False, val_check_interval=10, num_sanity_val_steps=0, callbacks=[Clock(watch)])
    with watch.loop():
        trainer.fit(Wildfire(), whole(fires(1600, 1), 16, True), whole(fires(320, 2), 32, False))
    print({name: round(value.item(), 3) for name, value in trainer.callback_metrics.items()})
    watch.tell()


if __name__ == "__main__":
    main()
