"""Fouled layers of ballast from ground radar with Lightning: an encoder and a decoder of convolutions along the track give each metre a class.

Clean: batches made before the fit, one thread, fused AdamW, no validation, no logger, nothing is planted.
Truth: time from the end of a batch to the start of the next one, as a share of the fit from its first batch.
"""
import logging
import time
import warnings

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
watch = Stopwatch()
DEPTHS, METRES, LAYERS = 48, 256, 5


class Radar(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([nn.Conv1d(DEPTHS, 64, 5, 2, 2), nn.Conv1d(64, 96, 5, 2, 2), nn.Conv1d(96, 128, 5, 2, 2)])
        self.up = nn.ModuleList([nn.ConvTranspose1d(128, 96, 4, 2, 1), nn.ConvTranspose1d(192, 64, 4, 2, 1), nn.ConvTranspose1d(128, 48, 4, 2, 1)])
        self.name = nn.Conv1d(48, LAYERS, 1)

    def forward(self, x):
        kept = []
        for layer in self.down:
            x = nn.functional.silu(layer(x))
            kept.append(x)
        x = nn.functional.silu(self.up[0](kept[2]))
        x = nn.functional.silu(self.up[1](torch.cat([x, kept[1]], 1)))
        x = nn.functional.silu(self.up[2](torch.cat([x, kept[0]], 1)))
        return self.name(x)

    def training_step(self, batch, _):
        echo, layer = batch
        return nn.functional.cross_entropy(self(echo), layer)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), 2e-4, fused=True)


class Timer(pl.Callback):
    def __init__(self, seconds):
        self.limit, self.loop, self.ended = seconds, watch.loop(), None

    def on_train_start(self, *_):
        self.loop.__enter__()

    def on_train_batch_start(self, *_):
        if self.ended:
            watch.planted_s += time.perf_counter() - self.ended

    def on_train_batch_end(self, trainer, *_):
        watch.step()
        self.ended = time.perf_counter()
        trainer.should_stop = watch.seconds() > self.limit

    def on_train_end(self, *_):
        self.loop.__exit__(None, None, None)


def main():
    torch.set_num_threads(1)
    pl.seed_everything(30)
    layer = torch.randint(0, LAYERS, (60, 12, METRES // 16)).repeat_interleave(16, 2)
    echo = torch.randn(60, 12, DEPTHS, METRES) + torch.linspace(0, 1, DEPTHS)[:, None] * layer[:, :, None]
    trainer = pl.Trainer(max_epochs=-1, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                         accelerator="cpu", callbacks=[Timer(6)])
    trainer.fit(Radar(), DataLoader(list(zip(echo, layer)), batch_size=None))
    watch.tell()


main()
