"""Separates voices in Lightning, and validates very often.

Planted: the whole validation set is run after every tenth batch.
Truth: time from the validation's start to its end, as a share of the loop.
"""
import logging
import time
import warnings

import torch
from lightning import pytorch as pl
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
watch = Stopwatch()


class Voices(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.mask = nn.Sequential(nn.Linear(257, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 257), nn.Sigmoid())
        self.began = 0.0

    def loss(self, spectra):
        return nn.functional.l1_loss(self.mask(spectra) * spectra, spectra.relu())

    def training_step(self, batch, _number):
        return self.loss(batch[0])

    def validation_step(self, batch, _number):
        self.log("validation", self.loss(batch[0]))

    def on_validation_start(self):
        self.began = time.perf_counter()

    def on_validation_end(self):
        watch.planted_s += time.perf_counter() - self.began

    def on_train_batch_end(self, *_unused):
        watch.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def main():
    pl.seed_everything(68)
    training = DataLoader(TensorDataset(torch.randn(150 * 128, 257)), batch_size=128)
    validation = DataLoader(TensorDataset(torch.randn(1200, 257)), batch_size=200)
    trainer = pl.Trainer(max_steps=140, max_time={"seconds": 4}, logger=False, enable_checkpointing=False, accelerator="cpu",
                         val_check_interval=10, num_sanity_val_steps=0, enable_progress_bar=False, enable_model_summary=False)
    with watch.loop():
        trainer.fit(Voices(), training, validation)
    watch.tell()


if __name__ == "__main__":
    main()
