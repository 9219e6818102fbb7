"""Learns an autoencoder for anomalies in Lightning, with an average of its weights.

Planted: nothing; the average is taken in every tenth step and the loss is logged rarely.
Truth: time of averaging, as a share of the loop.
"""
import copy
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


class Autoencoder(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(320, 600), nn.ReLU(), nn.Linear(600, 100), nn.ReLU(), nn.Linear(100, 600), nn.ReLU(),
                                 nn.Linear(600, 320))
        self.average = copy.deepcopy(self.net).requires_grad_(False)

    def training_step(self, batch, _number):
        loss = nn.functional.mse_loss(self.net(batch), batch)
        self.log("loss", loss)
        return loss

    def on_train_batch_end(self, *_unused):
        if len(watch.marks) % 10 == 9:
            with watch.planted(), torch.no_grad():
                torch._foreach_lerp_(list(self.average.parameters()), list(self.net.parameters()), 0.1)
        watch.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.net.parameters(), lr=0.01, momentum=0.9)


def main():
    pl.seed_everything(75)
    sensors = torch.randn(200, 768, 320)
    trainer = pl.Trainer(max_steps=180, max_time={"seconds": 4}, logger=False, enable_checkpointing=False, accelerator="cpu",
                         log_every_n_steps=60, enable_progress_bar=False, enable_model_summary=False)
    with watch.loop():
        trainer.fit(Autoencoder(), DataLoader(sensors, batch_size=None))
    watch.tell()


if __name__ == "__main__":
    main()
