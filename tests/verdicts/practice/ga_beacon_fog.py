"""Tells from the camera of a lighthouse how thick the fog is, with Lightning, callbacks, a logger and a validation set.

Decoy: a logger that writes CSV, a checkpoint of the weights, a validation of one batch, a nap, a collection of the youngest
garbage and a Python loop over a few pixels, all in few steps or small.
Truth: time in the callback, the checkpoint and the validation, as a share of the loop.
"""
import gc
import logging
import tempfile
import time
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch import nn

from stopwatch import Stopwatch

BATCH, SIDE = 32, 48


class Frames(torch.utils.data.IterableDataset):
    """Batches that are views of a few hundred frames in memory."""

    def __init__(self, batches):
        self.frames = torch.rand(batches, BATCH, 3, SIDE, SIDE)
        self.fog = self.frames.mean((2, 3, 4)) * 3

    def __iter__(self):
        return zip(self.frames, self.fog)


class Fog(L.LightningModule):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, width, 5, stride=4, padding=2), nn.ReLU(), nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(2 * width, 2 * width, 3, stride=2, padding=1), nn.ReLU(),
                                 nn.Conv2d(2 * width, 2 * width, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                 nn.Linear(2 * width, 1))

    def training_step(self, batch, number):
        frames, fog = batch
        loss = nn.functional.mse_loss(self.net(frames).squeeze(1), fog)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, number):
        frames, fog = batch
        self.log("val", nn.functional.l1_loss(self.net(frames).squeeze(1), fog))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


class Keeper(L.Callback):
    """Looks at the lamp: brightness of a few pixels, a line in the diary, a short rest."""

    def __init__(self, watch):
        self.watch, self.validation = watch, 0.0
        self.diary = open("/dev/null", "w", encoding="utf-8")

    def on_train_start(self, trainer, module):
        self.watch.began, self.watch.planted_s = time.perf_counter(), 0.0

    def on_validation_start(self, trainer, module):
        self.validation = time.perf_counter()

    def on_validation_end(self, trainer, module):
        self.watch.planted_s += time.perf_counter() - self.validation

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        with self.watch.planted():
            gc.collect(0)
            bright = sum(1 for value in batch[0][0, 0, 0].tolist() if value > 0.5)
            print(trainer.global_step, bright, file=self.diary, flush=True)
            if trainer.global_step % 10 == 0:
                time.sleep(0.001)
        self.watch.step()
        if self.watch.seconds() > 6.5:
            trainer.should_stop = True


class TimedCheckpoint(ModelCheckpoint):
    def __init__(self, watch, **options):
        super().__init__(**options)
        self.watch = watch

    def _save_checkpoint(self, trainer, filepath):
        with self.watch.planted():
            super()._save_checkpoint(trainer, filepath)


def main():
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    L.seed_everything(37)
    watch = Stopwatch()
    train = torch.utils.data.DataLoader(Frames(16), batch_size=None)
    check = torch.utils.data.DataLoader(Frames(1), batch_size=None)
    with tempfile.TemporaryDirectory() as folder:
        trainer = L.Trainer(max_epochs=-1, accelerator="cpu", logger=CSVLogger(folder), enable_progress_bar=False, enable_model_summary=False,
                            log_every_n_steps=50, val_check_interval=80, check_val_every_n_epoch=None, num_sanity_val_steps=0,
                            callbacks=[TimedCheckpoint(watch, dirpath=folder, every_n_train_steps=100), Keeper(watch)])
        with watch.loop():
            trainer.fit(Fog(), train, check)
    watch.tell()


if __name__ == "__main__":
    main()
