"""Foretells how dunes move from maps of height and wind, with Lightning.

Planted: val_check_interval=10 runs the whole validation set after each tenth batch.
Truth: time between the hooks on_validation_start and on_validation_end, of the loop.
"""
import logging
import time
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
for name in ("lightning.pytorch", "lightning.fabric"):
    logging.getLogger(name).setLevel(logging.ERROR)


class Dunes(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.wind = nn.Linear(8, 24)
        self.lift = nn.Conv2d(1, 24, 3, padding=1)
        self.mix = nn.Sequential(nn.SiLU(), nn.Conv2d(24, 24, 3, padding=1), nn.SiLU(), nn.Conv2d(24, 1, 1))

    def forward(self, height, wind):
        return height + self.mix(self.lift(height) + self.wind(wind)[:, :, None, None])

    def training_step(self, batch, _):
        height, wind, later = batch
        return nn.functional.mse_loss(self(height, wind), later)

    def validation_step(self, batch, _):
        height, wind, later = batch
        self.log("miss", nn.functional.l1_loss(self(height, wind), later), prog_bar=False)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=3e-4)


class Clock(L.Callback):
    def __init__(self, watch):
        self.watch = watch

    def on_train_batch_end(self, trainer, *_):
        self.watch.step()
        if self.watch.seconds() > 6:
            trainer.should_stop = True

    def on_validation_start(self, *_):
        self.began = time.perf_counter()

    def on_validation_end(self, *_):
        self.watch.planted_s += time.perf_counter() - self.began


def maps(count):
    return TensorDataset(torch.randn(count, 1, 32, 32), torch.randn(count, 8), torch.randn(count, 1, 32, 32))


def main():
    torch.set_num_threads(1)
    L.seed_everything(1)
    watch = Stopwatch()
    trainer = L.Trainer(max_epochs=1000, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                        enable_model_summary=False, val_check_interval=10, num_sanity_val_steps=0, callbacks=[Clock(watch)])
    with watch.loop():
        trainer.fit(Dunes(), DataLoader(maps(1600), 16, shuffle=True), DataLoader(maps(160), 32))
    watch.tell()


if __name__ == "__main__":
    main()
