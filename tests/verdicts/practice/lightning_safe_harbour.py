"""Trains a wide network in Lightning on a machine that is often switched off.

Planted: a checkpoint with the optimizer's state after each third batch, by the trainer's callback.
Truth: time of saving, as a share of the loop.
"""
import logging
import time
import warnings

import torch
from lightning import pytorch as pl
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
watch = Stopwatch()


class Harbour(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(400, 1200), nn.GELU(), nn.Linear(1200, 1200), nn.GELU(), nn.Linear(1200, 400))

    def training_step(self, batch, _number):
        return nn.functional.mse_loss(self.net(batch[0]), batch[0])

    def on_train_batch_end(self, *_unused):
        watch.step()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-4, foreach=True)


class Timed(ModelCheckpoint):
    def _save_checkpoint(self, trainer, filepath):
        began = time.perf_counter()
        super()._save_checkpoint(trainer, filepath)
        watch.planted_s += time.perf_counter() - began


def main():
    pl.seed_everything(9)
    ships = DataLoader(TensorDataset(torch.randn(128 * 800, 400)), batch_size=128)
    trainer = pl.Trainer(max_epochs=1, max_time={"seconds": 6}, logger=False, accelerator="cpu", enable_progress_bar=False,
                         enable_model_summary=False, callbacks=[Timed(dirpath="harbour", every_n_train_steps=3, save_top_k=1)])
    with watch.loop():
        trainer.fit(Harbour(), ships)
    watch.tell()


if __name__ == "__main__":
    main()
