"""Foretells the speed of a glacier's ice from maps of its surface, with Lightning.

Planted: nothing, convolutions dominate. Truth: all time from the end of a batch to the begin of the next, of the loop.
"""
import time

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

BATCH, WIDTH, EDGE, LAYERS = 16, 56, 20, 5


class IceModel(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        parts = [nn.Conv2d(3, WIDTH, 3, padding=1), nn.GELU()]
        for _ in range(LAYERS - 1):
            parts += [nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.GELU()]
        self.surface = nn.Sequential(*parts)
        self.speed = nn.Conv2d(WIDTH, 2, 1)

    def forward(self, maps):
        return self.speed(self.surface(maps))

    def training_step(self, batch, _):
        maps, speed = batch
        loss = nn.functional.l1_loss(self(maps), speed)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-3, weight_decay=0.01)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 400)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


class Glaciers(lightning.LightningDataModule):
    """Height, slope and thickness; the ice flows where it is steep and thick."""

    def setup(self, stage):
        self.maps = torch.rand(30, BATCH, 3, EDGE, EDGE)
        along = self.maps[:, :, 1] * self.maps[:, :, 2] ** 2
        self.speeds = torch.stack([along, along.flip(-1)], 2)

    def train_dataloader(self):
        return DataLoader(TensorDataset(self.maps, self.speeds), batch_size=None, shuffle=True)


class Clock(lightning.Callback):
    def __init__(self, watch):
        self.watch, self.ended = watch, None

    def on_train_batch_start(self, *_):
        if self.ended:
            self.watch.planted_s += time.perf_counter() - self.ended

    def on_train_batch_end(self, trainer, *_):
        self.watch.step()
        if self.watch.seconds() > 6:
            trainer.should_stop = True
        self.ended = time.perf_counter()


def main():
    lightning.seed_everything(39)
    watch = Stopwatch()
    trainer = lightning.Trainer(accelerator="cpu", max_epochs=1000, logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False, callbacks=[Clock(watch)])
    with watch.loop():
        trainer.fit(IceModel(), datamodule=Glaciers())
    print(f"loss {trainer.callback_metrics['loss'].item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
