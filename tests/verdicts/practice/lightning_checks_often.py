"""Forecasts the wind with Lightning.

Planted: the trainer validates on many days after each tenth batch.
Truth: time between the begin and the end of validations, as a share of the loop.
"""
import logging
import time
import warnings

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Wind(lightning.LightningModule):
    def __init__(self, watch):
        super().__init__()
        self.watch = watch
        self.model = nn.Sequential(nn.Linear(240, 900), nn.ReLU(), nn.Linear(900, 900), nn.ReLU(), nn.Linear(900, 24))

    def training_step(self, batch, _):
        days, wind = batch
        return nn.functional.mse_loss(self.model(days), wind)

    def validation_step(self, batch, _):
        days, wind = batch
        self.log("off", nn.functional.l1_loss(self.model(days), wind))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


class Clock(lightning.Callback):
    def __init__(self, watch):
        self.watch, self.validation_began, self.loop = watch, 0, watch.loop()

    def on_train_start(self, *_):
        self.loop.__enter__()

    def on_validation_start(self, *_):
        self.validation_began = time.perf_counter()

    def on_validation_end(self, *_):
        if self.watch.began:
            self.watch.planted_s += time.perf_counter() - self.validation_began

    def on_train_batch_end(self, trainer, *_):
        self.watch.step()
        if self.watch.seconds() > 6:
            trainer.should_stop = True

    def on_train_end(self, *_):
        self.loop.__exit__(None, None, None)


def main():
    torch.manual_seed(3)
    watch = Stopwatch()
    train = DataLoader(TensorDataset(torch.rand(64 * 600, 240), torch.rand(64 * 600, 24)), batch_size=64)
    held_back = DataLoader(TensorDataset(torch.rand(512 * 4, 240), torch.rand(512 * 4, 24)), batch_size=512)
    trainer = lightning.Trainer(max_epochs=50, val_check_interval=10, callbacks=[Clock(watch)], logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False, accelerator="cpu", num_sanity_val_steps=0)
    trainer.fit(Wind(watch), train, held_back)
    watch.tell()


if __name__ == "__main__":
    main()
