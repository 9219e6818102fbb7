"""Learns with Lightning which scale a piece is in, from chromagrams: convolutions over time, then attention of one query.

Planted: val_check_interval=3 has all pieces kept apart judged after each third batch.
Truth: time from the start of each validation to its end, as a share of the fit from its first batch.
"""
import logging
import warnings

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
watch = Stopwatch()
SCALES, PIECE = 24, 160


class Tuner(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.hear = nn.Sequential(nn.Conv1d(12, 96, 7, padding=3), nn.ReLU(), nn.Conv1d(96, 96, 7, padding=3), nn.ReLU())
        self.query = nn.Parameter(torch.randn(96) / 10)
        self.scale = nn.Linear(96, SCALES)

    def forward(self, chroma):
        heard = self.hear(chroma)
        weight = torch.einsum("bct,c->bt", heard, self.query).softmax(-1)
        return self.scale(torch.einsum("bct,bt->bc", heard, weight))

    def training_step(self, batch, _):
        return nn.functional.cross_entropy(self(batch[0]), batch[1])

    def validation_step(self, batch, _):
        right = (self(batch[0]).argmax(1) == batch[1]).float().mean()
        self.log("right", right)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), 1e-4, fused=True)


class Timer(pl.Callback):
    """Stops the fit after some seconds, and measures its time."""

    def __init__(self, seconds):
        self.limit, self.loop, self.validation = seconds, watch.loop(), None

    def on_train_start(self, *_):
        self.loop.__enter__()

    def on_train_batch_end(self, trainer, *_):
        watch.step()
        trainer.should_stop = watch.seconds() > self.limit

    def on_validation_start(self, *_):
        self.validation = watch.planted()
        self.validation.__enter__()

    def on_validation_end(self, *_):
        self.validation.__exit__(None, None, None)

    def on_train_end(self, *_):
        self.loop.__exit__(None, None, None)


def pieces(count, size):
    scale = torch.randint(0, SCALES, (count, size))
    chroma = torch.rand(count, size, 12, PIECE)
    for tone in (0, 4, 7):
        chroma[torch.arange(count)[:, None], torch.arange(size), (scale + tone) % 12] += 0.4
    return list(zip(chroma, scale))


def main():
    torch.set_num_threads(1)
    pl.seed_everything(6)
    training = DataLoader(pieces(60, 24), batch_size=None, shuffle=True)
    apart = DataLoader(pieces(5, 24), batch_size=None)
    trainer = pl.Trainer(max_epochs=-1, val_check_interval=3, num_sanity_val_steps=0, logger=False, enable_checkpointing=False,
                         enable_progress_bar=False, enable_model_summary=False, accelerator="cpu", callbacks=[Timer(6)])
    trainer.fit(Tuner(), training, apart)
    print("right:", round(float(trainer.callback_metrics["right"]), 3))
    watch.tell()


main()
