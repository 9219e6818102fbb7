"""Recognizes trams by the sound of their bells, with Lightning, spectrograms and attention over time.

Decoy: the weights are kept each 20 batches, a logger writes a line each 10, a callback naps for half a millisecond, and
a batch is validated after each 60; all of this is small.
Truth: time of checkpoints, nap and validation, of the loop.
"""
import tempfile
import time
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
watch = Stopwatch()


class Bells(L.LightningModule):
    def __init__(self, bands=40, width=128, trams=16):
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(bands, width, 5, padding=2), nn.GELU(), nn.Conv1d(width, width, 5, padding=2), nn.GELU())
        self.heed, self.tram = nn.Conv1d(width, 1, 1), nn.Linear(width, trams)

    def forward(self, spectrum):
        ringing = self.front(spectrum)
        return self.tram((self.heed(ringing).softmax(2) * ringing).sum(2))

    def training_step(self, batch, _):
        loss = nn.functional.cross_entropy(self(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, _):
        self.log("wrong", (self(batch[0]).argmax(1) != batch[1]).float().mean())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3, fused=True)


class Keep(ModelCheckpoint):
    def on_train_batch_end(self, *arguments):
        with watch.planted():
            super().on_train_batch_end(*arguments)


class Clock(L.Callback):
    def on_train_start(self, trainer, module):
        self.loop = watch.loop()
        self.loop.__enter__()

    def on_train_batch_end(self, trainer, module, *_):
        with watch.planted():
            time.sleep(0.0005)
        watch.step()
        trainer.should_stop = watch.seconds() > 6.5

    def on_validation_start(self, trainer, module):
        self.began = time.perf_counter()

    def on_validation_end(self, trainer, module):
        watch.planted_s += time.perf_counter() - self.began

    def on_train_end(self, trainer, module):
        self.loop.__exit__(None, None, None)


def bells(count, seed):
    generator = torch.Generator().manual_seed(seed)
    tram = torch.arange(count) % 16
    return TensorDataset(torch.rand(count, 40, 64, generator=generator) + 0.3 * (torch.arange(40).view(1, -1, 1) % 16 == tram.view(-1, 1, 1)), tram)


if __name__ == "__main__":
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        trainer = L.Trainer(accelerator="cpu", max_epochs=-1, logger=CSVLogger(folder), log_every_n_steps=10, val_check_interval=60, num_sanity_val_steps=0,
                            callbacks=[Clock(), Keep(folder, every_n_train_steps=20, save_weights_only=True)], limit_val_batches=1,
                            enable_progress_bar=False, enable_model_summary=False)
        trainer.fit(Bells(), DataLoader(bells(64 * 120, 1), 64), DataLoader(bells(256, 2), 64))
    watch.tell()
