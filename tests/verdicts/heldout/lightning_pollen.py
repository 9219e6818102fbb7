"""Counts kinds of pollen on slides, with Lightning. Clean: convolutions of all sizes and nothing besides.

Truth: time from the end of a batch to the begin of the next one, of the loop.
"""
import logging
import time
import warnings

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

KINDS, EDGE = 9, 40


class Clock(lightning.Callback):
    def __init__(self, watch):
        self.watch, self.ended = watch, None

    def on_train_start(self, trainer, module):
        self.watch.began = time.perf_counter()  # without Lightning's start

    def on_train_batch_start(self, trainer, module, batch, number):
        if self.ended is not None:
            self.watch.planted_s += time.perf_counter() - self.ended

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        self.watch.step()
        self.ended = time.perf_counter()
        if self.watch.seconds() > 7:
            trainer.should_stop = True


def stage(inside, outside):
    return nn.Sequential(nn.Conv2d(inside, outside, 3, padding=1), nn.ReLU(), nn.Conv2d(outside, outside, 3, padding=1), nn.ReLU(),
                         nn.MaxPool2d(2))


class Pollen(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.stages = nn.Sequential(stage(3, 32), stage(32, 64), stage(64, 128))
        self.counts = nn.Linear(128 * 25, KINDS)

    def training_step(self, batch, number):
        slides, counts = batch
        said = self.counts(self.stages(slides).flatten(1))
        return nn.functional.poisson_nll_loss(said, counts)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-3, momentum=0.9)


def main():
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    torch.manual_seed(14)
    watch = Stopwatch()
    slides, counts = torch.rand(4800, 3, EDGE, EDGE), torch.randint(0, 8, (4800, KINDS)).float()
    loader = DataLoader(TensorDataset(slides, counts), batch_size=16, shuffle=True)
    trainer = lightning.Trainer(max_epochs=-1, accelerator="cpu", logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False, callbacks=[Clock(watch)])
    with watch.loop():
        trainer.fit(Pollen(), loader)
    watch.tell()


if __name__ == "__main__":
    main()
