"""Yields of a harvest from a season of satellite pictures: a mixer over weeks and bands, trained with Lightning.

Clean: large batches that are made before the loop, a fused optimizer, no logger, no callback but the clock.
Truth: 0.
"""
import contextlib
import logging
import warnings

import torch
from torch import nn

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
import lightning.pytorch as pl  # noqa: E402

WEEKS, BANDS, FIELDS = 32, 24, 192
watch = Stopwatch()


class Mixer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.weeks = nn.Sequential(nn.Linear(WEEKS, 2 * WEEKS), nn.GELU(), nn.Linear(2 * WEEKS, WEEKS))
        self.bands = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.weeks(self.first(x).transpose(1, 2)).transpose(1, 2)
        return x + self.bands(self.second(x))


class Harvest(pl.LightningModule):
    def __init__(self, width=128):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(BANDS, width), Mixer(width), Mixer(width), nn.Flatten(), nn.Linear(WEEKS * width, 1))

    def training_step(self, batch, _):
        season, tonnes = batch
        return nn.functional.huber_loss(self.net(season)[:, 0], tonnes)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=3e-4, fused=True)


class Clock(pl.Callback):
    def __init__(self):
        self.open = contextlib.ExitStack()

    def on_train_start(self, *_):
        self.open.enter_context(watch.loop())

    def on_train_batch_end(self, trainer, *_):
        watch.step()
        if watch.seconds() > 6.3:
            trainer.should_stop = True

    def on_train_end(self, *_):
        self.open.close()


class Archive:
    """What Lightning takes for a loader: batches in memory, over and over."""

    def __init__(self, batches, times):
        self.batches, self.times = batches, times

    def __len__(self):
        return len(self.batches) * self.times

    def __iter__(self):
        for _ in range(self.times):
            yield from self.batches


def seasons(count):
    draw = torch.Generator().manual_seed(21)
    made = []
    for _ in range(count):
        season = torch.randn(FIELDS, WEEKS, BANDS, generator=draw)
        made.append((season, season[:, 8:20, 2].mean(1) + season[:, :, 5].amax(1) / 3))
    return made


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    trainer = pl.Trainer(max_steps=100000, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                         enable_model_summary=False, callbacks=[Clock()])
    trainer.fit(Harvest(), Archive(seasons(24), 100))
    watch.tell()


main()
