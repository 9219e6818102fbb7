"""Predicts prices from a table in Lightning.

Planted: nothing. Batches are slices of a tensor; the loss is logged every 50 steps; there is no checkpoint.
Truth: time between a batch's end and the next one's start, as a share of the loop.
"""
import logging
import warnings

import torch
from lightning import pytorch as pl
from torch import nn

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
watch = Stopwatch()


class Batches:
    """Slices of a table in memory."""

    def __init__(self, rows, columns, batch):
        self.table = torch.randn(rows, columns)
        self.price = self.table[:, :4].sum(1, keepdim=True)
        self.batch = batch

    def __len__(self):
        return len(self.table) // self.batch

    def __iter__(self):
        for first in range(0, len(self) * self.batch, self.batch):
            yield self.table[first:first + self.batch], self.price[first:first + self.batch]


class Prices(pl.LightningModule):
    def __init__(self, columns):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(columns, 768), nn.ReLU(), nn.LayerNorm(768), nn.Linear(768, 768), nn.ReLU(),
                                    nn.LayerNorm(768), nn.Linear(768, 1))

    def training_step(self, batch, _number):
        table, price = batch
        loss = nn.functional.smooth_l1_loss(self.layers(table), price)
        self.log("loss", loss)
        return loss

    def on_train_batch_start(self, *_unused):
        if watch.marks:
            watch.planted_s += watch.seconds() + watch.began - watch.marks[-1]

    def on_train_batch_end(self, *_unused):
        watch.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.9)


def main():
    pl.seed_everything(25)
    batches = Batches(1024 * 60, 200, 1024)
    trainer = pl.Trainer(max_steps=170, max_time={"seconds": 10}, logger=False, enable_checkpointing=False, accelerator="cpu", log_every_n_steps=50,
                         enable_progress_bar=False, enable_model_summary=False)
    with watch.loop():
        trainer.fit(Prices(200), batches)
    watch.tell()


if __name__ == "__main__":
    main()
