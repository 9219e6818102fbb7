"""Sorts complaints in Lightning; chores are rare.

Decoy of checkpoints, evaluations and logging: each of them happens once or twice, and takes a moment.
Truth: time of validating and of saving, as a share of the loop.
"""
import logging
import os
import tempfile
import warnings

import torch
from lightning import pytorch as pl
from torch import nn
from torch.utils.data import DataLoader

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
watch = Stopwatch()


class Sorter(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(600, 1000), nn.ReLU(), nn.Linear(1000, 700), nn.ReLU(), nn.Linear(700, 30))

    def training_step(self, batch, _number):
        return nn.functional.cross_entropy(self.layers(batch), (batch[:, 0] > 0).long())

    def validation_step(self, batch, _number):
        self.log("kept back", nn.functional.cross_entropy(self.layers(batch), (batch[:, 0] > 0).long()))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


class Chores(pl.Callback):
    def __init__(self, folder):
        self.folder, self.began = folder, 0.0

    def on_validation_start(self, *_unused):
        self.began = watch.seconds()

    def on_validation_end(self, *_unused):
        watch.planted_s += watch.seconds() - self.began

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        if number == 80:
            with watch.planted():
                torch.save(module.state_dict(), os.path.join(self.folder, "sorter.pt"))
        watch.step()


def main():
    pl.seed_everything(238)
    torch.set_num_threads(1)
    complaints, held_back = (DataLoader(torch.randn(count, 160, 600), batch_size=None) for count in (160, 2))
    with tempfile.TemporaryDirectory(dir=".") as folder:
        trainer = pl.Trainer(max_steps=320, max_time={"seconds": 4}, logger=False, enable_checkpointing=False, accelerator="cpu",
                             callbacks=[Chores(folder)], num_sanity_val_steps=0, val_check_interval=100, enable_progress_bar=False,
                             enable_model_summary=False)
        with watch.loop():
            trainer.fit(Sorter(), complaints, held_back)
    watch.tell()


if __name__ == "__main__":
    main()
