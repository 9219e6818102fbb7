"""Counts apples in pictures of an orchard, with Lightning.

Decoy: a flushed line of CSV, a nap of 0.1 ms, gc.collect(0) and an average of the weights in some steps, clipping in all, all small.
Truth: time of the callback that does these, of the loop.
"""
import gc
import logging
import os
import tempfile
import time
import warnings

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch


class Orchard(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 24, 5, stride=2), nn.ReLU(), nn.Conv2d(24, 48, 3), nn.ReLU(), nn.Conv2d(48, 64, 3), nn.ReLU(),
                                  nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.count = nn.Linear(64, 1)

    def training_step(self, batch, number):
        pictures, apples = batch
        return nn.functional.poisson_nll_loss(self.count(self.body(pictures)).flatten(), apples)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.002, momentum=0.9)


class Notes(lightning.Callback):
    def __init__(self, watch, file):
        self.watch, self.file = watch, file
        self.average = None

    def on_train_start(self, trainer, module):
        self.watch.began = time.perf_counter()  # without Lightning's start
        self.average = [p.detach().clone() for p in module.parameters()]

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        with self.watch.planted():
            step = trainer.global_step
            if step % 5 == 0:
                self.file.write(f"{step},{outputs['loss'].item():.5f}\n")
                self.file.flush()
                time.sleep(0.0001)
            if step % 10 == 0:
                torch._foreach_lerp_(self.average, [p.detach() for p in module.parameters()], 0.01)
            if step % 25 == 0:
                gc.collect(0)
        self.watch.step()
        if self.watch.seconds() > 6.5:
            trainer.should_stop = True


def main():
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    torch.manual_seed(17)
    watch = Stopwatch()
    apples = torch.randint(0, 20, (960,)).float()
    pictures = torch.rand(960, 3, 56, 56) + apples[:, None, None, None] / 40
    loader = DataLoader(TensorDataset(pictures, apples), batch_size=None, sampler=torch.utils.data.BatchSampler(
        torch.utils.data.RandomSampler(range(960)), 24, drop_last=True))
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "notes.csv"), "w", encoding="utf-8") as file:
        trainer = lightning.Trainer(max_epochs=-1, accelerator="cpu", logger=False, enable_checkpointing=False, gradient_clip_val=1.0,
                                    enable_progress_bar=False, enable_model_summary=False, callbacks=[Notes(watch, file)])
        with watch.loop():
            trainer.fit(Orchard(), loader)
    watch.tell()


if __name__ == "__main__":
    main()
