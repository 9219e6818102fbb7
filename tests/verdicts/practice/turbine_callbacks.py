"""Finds cracks in turbine blades, with Lightning.

Decoy: each 80th batch is followed by a validation and a checkpoint, the learning rate is watched and an average of
the weights is kept, but all of these take a moment.
Truth: time of validation, checkpoints and the average, as a share of the loop.
"""
import tempfile
import time

import lightning
import torch
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

BATCH, SIZE = 24, 48
WATCH = Stopwatch()


class Cracks(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                 nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 1))

    def training_step(self, batch, _):
        blade, crack = batch
        loss = nn.functional.binary_cross_entropy_with_logits(self.net(blade)[:, 0], crack)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, _):
        blade, crack = batch
        self.log("missed", ((self.net(blade)[:, 0] > 0) != crack.bool()).float().mean())

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.02, momentum=0.9)
        return [optimizer], [{"scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 2000), "interval": "step"}]


class Average(lightning.Callback):
    def on_fit_start(self, trainer, module):
        self.weights = [param.detach().clone() for param in module.parameters()]

    @torch.no_grad()
    def on_train_batch_end(self, trainer, module, *_):
        with WATCH.planted():
            for kept, param in zip(self.weights, module.parameters()):
                kept.lerp_(param, 0.01)
        WATCH.step()
        if WATCH.seconds() > 6.3:
            trainer.should_stop = True


class TimedValidation(lightning.Callback):
    def on_validation_start(self, *_):
        self.began = time.perf_counter()

    def on_validation_end(self, *_):
        WATCH.planted_s += time.perf_counter() - self.began


class Kept(ModelCheckpoint):
    def _save_checkpoint(self, trainer, path):
        with WATCH.planted():
            super()._save_checkpoint(trainer, path)


def blades(count, seed):
    generator = torch.Generator().manual_seed(seed)
    crack = torch.randint(0, 2, (count, BATCH), generator=generator).float()
    blade = torch.randn(count, BATCH, 1, SIZE, SIZE, generator=generator)
    blade[:, :, :, 20:22] += 1.5 * crack[:, :, None, None, None]
    return DataLoader(TensorDataset(blade, crack), batch_size=None)


def main():
    lightning.seed_everything(14)
    with tempfile.TemporaryDirectory() as folder:
        # validation first: its end is when the checkpoint is written
        callbacks = [TimedValidation(), Average(), LearningRateMonitor("step"), Kept(folder, every_n_train_steps=80, save_top_k=1)]
        trainer = lightning.Trainer(accelerator="cpu", max_epochs=1000, logger=CSVLogger(folder), callbacks=callbacks, val_check_interval=80,
                                    check_val_every_n_epoch=None, num_sanity_val_steps=0, enable_progress_bar=False, enable_model_summary=False)
        with WATCH.loop():
            trainer.fit(Cracks(), blades(60, 1), blades(1, 2))
        print(f"{trainer.global_step} batches, missed {trainer.callback_metrics['missed'].item():.2f}")
    WATCH.tell()


if __name__ == "__main__":
    main()
