"""When a signal box will be overloaded: attention over the last hours of a line's trains, trained with Lightning. The timetable stays in
memory as the objects that the importer made of it.

Planted: a callback, meant for a machine with little memory, calls gc.collect() after each tenth batch, which visits all objects of the timetable.
Truth: time in gc.collect(), of the loop.
"""
import contextlib
import dataclasses
import gc
import logging
import warnings

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
import lightning.pytorch as pl  # noqa: E402

HOURS, FACTS = 28, 16
watch = Stopwatch()


@dataclasses.dataclass
class Train:
    number: int
    stops: list
    notes: dict


def timetable(count):
    return {n: Train(n, [(station, 60 * station + n % 60) for station in range(5)], {"class": n % 3}) for n in range(count)}


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.mix, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.mix(self.norm(x)).unflatten(2, (3, 4, -1)).permute(2, 0, 3, 1, 4)
        return x + self.out(nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class Boxes(pl.LightningModule):
    def __init__(self, trains, width=96):
        super().__init__()
        self.trains = trains
        self.into = nn.Linear(FACTS, width)
        self.blocks = nn.Sequential(*[Attention(width) for _ in range(4)])
        self.load = nn.Linear(width, 1)

    def training_step(self, batch, _):
        hours, load = batch
        return nn.functional.mse_loss(self.load(self.blocks(self.into(hours)).mean(1))[:, 0], load)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3, fused=True)


class Tidy(pl.Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        if number % 10 == 9:
            with watch.planted():
                gc.collect()


class Clock(pl.Callback):
    def __init__(self):
        self.open = contextlib.ExitStack()

    def on_train_start(self, *_):
        self.open.enter_context(watch.loop())

    def on_train_batch_end(self, trainer, *_):
        watch.step()
        if watch.seconds() > 6.5:
            trainer.should_stop = True

    def on_train_end(self, *_):
        self.open.close()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    hours = torch.randn(2048, HOURS, FACTS)
    load = hours[:, -8:, :3].sum((1, 2)) / 5
    trainer = pl.Trainer(max_epochs=1000, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                         enable_model_summary=False, callbacks=[Tidy(), Clock()])
    trainer.fit(Boxes(timetable(5000)), DataLoader(TensorDataset(hours, load), batch_size=40, drop_last=True))
    watch.tell()


main()
