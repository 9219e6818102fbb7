"""Pretrains an autoencoder in Lightning.

Planted: a checkpoint of 75 MB after every third step.
Truth: time of writing checkpoints, as a share of the loop.
"""
import logging
import tempfile
import warnings

import torch
from lightning import pytorch as pl
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.plugins.io import TorchCheckpointIO
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
watch = Stopwatch()


class TimedIO(TorchCheckpointIO):
    def save_checkpoint(self, *arguments, **named):
        with watch.planted():
            super().save_checkpoint(*arguments, **named)


class Autoencoder(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 1024), nn.ReLU(), nn.Linear(1024, 128))
        self.decoder = nn.Sequential(nn.Linear(128, 1024), nn.ReLU(), nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 1024))

    def training_step(self, batch, _number):
        inputs, = batch
        return nn.functional.mse_loss(self.decoder(self.encoder(inputs)), inputs)

    def on_train_batch_end(self, *_unused):
        watch.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.9)


def main():
    pl.seed_everything(11)
    loader = DataLoader(TensorDataset(torch.randn(48 * 80, 1024)), batch_size=48, shuffle=False)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        saver = ModelCheckpoint(dirpath=folder, every_n_train_steps=3, save_top_k=1)
        trainer = pl.Trainer(max_steps=240, max_time={"seconds": 11}, logger=False, callbacks=[saver], plugins=[TimedIO()], accelerator="cpu",
                             enable_progress_bar=False, enable_model_summary=False)
        with watch.loop():
            trainer.fit(Autoencoder(), loader)
    watch.tell()


if __name__ == "__main__":
    main()
