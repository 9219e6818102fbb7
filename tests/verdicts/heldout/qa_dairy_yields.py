"""Estimates a herd's yield of milk from feed and weather with a wide dense network in Lightning.

Planted: ModelCheckpoint saves the weights and the optimizer's moments after each fourth batch.
Truth: time in the callback that saves, of the loop.
"""
import tempfile
import time

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import IterableDataset, DataLoader

from stopwatch import Stopwatch

COWS, FACTS, WIDTH = 96, 60, 1100
watch = Stopwatch()


class Milkings(IterableDataset):
    def __iter__(self):
        generator = torch.Generator().manual_seed(4)
        truth = torch.randn(FACTS, 1, generator=generator)
        while True:
            facts = torch.randn(COWS, FACTS, generator=generator)
            yield facts, torch.tanh(facts @ truth / 8)


class Herd(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.feed = nn.Sequential(nn.Linear(FACTS, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH), nn.GELU(),
                                  nn.Linear(WIDTH, 1))

    def training_step(self, batch, number):
        facts, litres = batch
        loss = nn.functional.mse_loss(self.feed(facts), litres)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=3e-4, fused=True)


class Keep(ModelCheckpoint):
    def on_train_batch_end(self, *arguments):
        with watch.planted():
            super().on_train_batch_end(*arguments)


class Until(L.Callback):
    def on_train_start(self, trainer, herd):
        self.span = watch.loop()
        self.span.__enter__()

    def on_train_batch_end(self, trainer, herd, *_):
        watch.step()
        if watch.seconds() > 6.5:
            trainer.should_stop = True

    def on_train_end(self, trainer, herd):
        self.span.__exit__(None, None, None)


def main():
    L.seed_everything(5)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as barn:
        keep = Keep(dirpath=barn, every_n_train_steps=4, save_top_k=1, monitor=None)
        trainer = L.Trainer(accelerator="cpu", max_epochs=1, callbacks=[Until(), keep], logger=False, enable_progress_bar=False,
                            enable_model_summary=False)
        trainer.fit(Herd(), DataLoader(Milkings(), batch_size=None))
    watch.tell()


if __name__ == "__main__":
    main()
