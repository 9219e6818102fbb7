"""Knows harbour seals by the spots of their fur: an embedding by a small residual network with a margin loss, in Lightning.

Decoy: a callback keeps a mean of all weights, another saves a checkpoint to a buffer, self.log in each step, gc.collect() of a frozen heap, all rare or small.
Truth: time of these callbacks and logs, of the loop.
"""
import contextlib
import gc
import io
import logging
import warnings

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
import lightning.pytorch as pl  # noqa: E402

SEALS, SIDE = 40, 32
watch = Stopwatch()


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.one = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm = nn.GroupNorm(4, width)
        self.two = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return x + self.two(self.norm(self.one(x)).relu())


class Spots(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 32, 4, 2, 1), Residual(32), nn.Conv2d(32, 64, 4, 2, 1), Residual(64), Residual(64), nn.AvgPool2d(8), nn.Flatten())
        self.names = nn.Parameter(torch.randn(SEALS, 64))

    def training_step(self, batch, number):
        fur, name = batch
        cosine = nn.functional.normalize(self.body(fur)) @ nn.functional.normalize(self.names).T
        with_margin = cosine - 0.2 * nn.functional.one_hot(name, SEALS)
        loss = nn.functional.cross_entropy(12 * with_margin, name)
        with watch.planted():
            self.log("loss", loss, batch_size=len(fur))
            if number % 10 == 0:
                self.log("right", (cosine.argmax(1) == name).float().mean(), batch_size=len(fur))
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=5e-4, fused=True)


class MeanWeights(pl.Callback):
    @torch.no_grad()
    def on_train_batch_end(self, trainer, model, outputs, batch, batch_idx):
        with watch.planted():
            if batch_idx % 5 == 0:
                for mean, weight in zip(self.means, model.parameters()):
                    mean.lerp_(weight, 0.01)

    def on_train_start(self, trainer, model):
        self.means = [weight.detach().clone() for weight in model.parameters()]


class Keep(pl.Callback):
    def on_train_batch_end(self, trainer, model, outputs, batch, batch_idx):
        with watch.planted():
            if batch_idx % 50 == 49:
                self.buffer = io.BytesIO()
                torch.save(model.state_dict(), self.buffer)
                gc.collect()
                print(f"kept after {batch_idx + 1}", flush=True)


class Clock(pl.Callback):
    def __init__(self):
        self.open = contextlib.ExitStack()

    def on_train_start(self, *_):
        gc.collect()
        gc.freeze()
        self.open.enter_context(watch.loop())

    def on_train_batch_end(self, trainer, *_):
        watch.step()
        if watch.seconds() > 6.5:
            trainer.should_stop = True

    def on_train_end(self, *_):
        self.open.close()


def photographs(count):
    name = torch.arange(count) % SEALS
    spots = torch.rand(SEALS, 3, SIDE, SIDE).round()
    return TensorDataset((spots[name] + 0.7 * torch.randn(count, 3, SIDE, SIDE)).clamp(-2, 2), name)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(21)
    album = DataLoader(photographs(1600), batch_size=40, drop_last=True)
    trainer = pl.Trainer(max_epochs=1000, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                         enable_model_summary=False, callbacks=[MeanWeights(), Keep(), Clock()])
    trainer.fit(Spots(), album)
    watch.tell()


main()
