"""Trains a variational autoencoder of faces in Lightning.

Planted: nothing. Batches are ready in memory, and nothing is logged or saved.
Truth: time between a batch's end and the next one's start, as a share of the loop.
"""
import logging
import warnings

import torch
from lightning import pytorch as pl
from torch import nn
from torch.utils.data import DataLoader

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
watch = Stopwatch()


class Vae(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(1024, 900), nn.SiLU(), nn.Linear(900, 64))
        self.decoder = nn.Sequential(nn.Linear(32, 900), nn.SiLU(), nn.Linear(900, 1024))

    def training_step(self, batch, _number):
        mean, spread = self.encoder(batch).chunk(2, 1)
        code = mean + torch.randn_like(mean) * (spread / 2).exp()
        distance = (mean.pow(2) + spread.exp() - 1 - spread).sum(1).mean() / 2
        return nn.functional.mse_loss(self.decoder(code), batch, reduction="sum") / len(batch) + distance

    def on_train_batch_start(self, *_unused):
        if watch.marks:
            watch.planted_s += watch.seconds() + watch.began - watch.marks[-1]

    def on_train_batch_end(self, *_unused):
        watch.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-4, momentum=0.9)


def main():
    pl.seed_everything(234)
    torch.set_num_threads(1)
    faces = DataLoader(torch.rand(250, 128, 1024), batch_size=None)
    trainer = pl.Trainer(max_steps=250, max_time={"seconds": 4}, logger=False, enable_checkpointing=False, accelerator="cpu",
                         enable_progress_bar=False, enable_model_summary=False)
    with watch.loop():
        trainer.fit(Vae(), faces)
    watch.tell()


if __name__ == "__main__":
    main()
