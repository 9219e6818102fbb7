"""Forecasts the delay of trams from the last hour of all lines, with Lightning.

Planted: val_check_interval is 12 batches, and each check goes through eight larger batches.
Truth: time of validation, of the loop.
"""
import logging
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

LINES, MINUTES = 32, 60
watch = Stopwatch()


class TramDelay(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(LINES, 128, 5), nn.ReLU(), nn.Conv1d(128, 192, 5, stride=2), nn.ReLU(),
                                 nn.Conv1d(192, 192, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(LINES))

    def training_step(self, batch, _):
        past, delay = batch
        return nn.functional.huber_loss(self.net(past), delay)

    def validation_step(self, batch, _):
        past, delay = batch
        self.log("val_mae", (self.net(past) - delay).abs().mean())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


class Clock(L.Callback):
    def on_train_start(self, *_):
        self.loop = watch.loop()
        self.loop.__enter__()

    def on_train_batch_end(self, trainer, *_):
        watch.step()
        trainer.should_stop = watch.seconds() > 7

    def on_validation_start(self, trainer, *_):
        self.part = watch.planted()
        self.part.__enter__()

    def on_validation_end(self, *_):
        self.part.__exit__(None, None, None)

    def on_train_end(self, *_):
        self.loop.__exit__(None, None, None)


def trams(count, seed):
    generator = torch.Generator().manual_seed(seed)
    past = torch.randn(count, LINES, MINUTES, generator=generator)
    return TensorDataset(past, past[:, :, -5:].mean(-1))


def main():
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    torch.manual_seed(0)
    model = TramDelay()
    model.net(torch.zeros(2, LINES, MINUTES))
    trainer = L.Trainer(accelerator="cpu", max_epochs=1, val_check_interval=12, num_sanity_val_steps=0, logger=False,
                        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, callbacks=[Clock()])
    trainer.fit(model, DataLoader(trams(64 * 1200, 1), batch_size=64), DataLoader(trams(128 * 8, 2), batch_size=128))
    watch.tell()


if __name__ == "__main__":
    main()
