"""Odds of fixtures with Lightning: embeddings of clubs, referees and grounds go through dense layers with skips.

Decoy: self.log in each step, a validation of one batch after 120, a callback that collects a frozen heap's garbage, appends to a file, naps and saves now and then, all small or rare.
Truth: time of the validations and of the callback, as a share of the fit from its first batch.
"""
import gc
import logging
import os
import tempfile
import time
import warnings

import pytorch_lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
watch = Stopwatch()
CLUBS, REFEREES, GROUNDS, WIDTH = 140, 60, 150, 320


class Odds(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.club, self.referee, self.ground = nn.Embedding(CLUBS, 64), nn.Embedding(REFEREES, 32), nn.Embedding(GROUNDS, 32)
        self.start = nn.Linear(2 * 64 + 64, WIDTH)
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(5))
        self.end = nn.Linear(WIDTH, 3)

    def forward(self, match):
        clubs = self.club(match[:, :2]).flatten(1)
        x = self.start(torch.cat([clubs, self.referee(match[:, 2]), self.ground(match[:, 3])], 1))
        for layer in self.layers:
            x = x + torch.tanh(layer(x))
        return self.end(x)

    def training_step(self, batch, _):
        loss = nn.functional.cross_entropy(self(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, _):
        self.log("apart", nn.functional.cross_entropy(self(batch[0]), batch[1]))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 3e-4, fused=True)


class Clerk(pl.Callback):
    def __init__(self, seconds, path):
        self.limit, self.path, self.loop, self.apart = seconds, path, watch.loop(), None

    def on_train_start(self, *_):
        gc.collect()
        gc.freeze()
        self.loop.__enter__()

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        with watch.planted():
            if number % 40 == 39:
                gc.collect(0)
                with open(self.path, "a", encoding="utf-8") as file:
                    file.write(f"{number}\n")
            if number % 100 == 99:
                time.sleep(0.002)
                torch.save(module.end.state_dict(), self.path + ".pt")
        watch.step()
        trainer.should_stop = watch.seconds() > self.limit

    def on_validation_start(self, *_):
        self.apart = watch.planted()
        self.apart.__enter__()

    def on_validation_end(self, *_):
        self.apart.__exit__(None, None, None)

    def on_train_end(self, *_):
        self.loop.__exit__(None, None, None)


def matches(count):
    tables = [torch.randint(0, most, (count, 160)) for most in (CLUBS, CLUBS, REFEREES, GROUNDS)]
    match = torch.stack(tables, 2)
    return list(zip(match, (match[..., 0] * 3 // CLUBS + match[..., 1] % 2).clamp(max=2)))


def main():
    torch.set_num_threads(1)
    pl.seed_everything(9)
    with tempfile.TemporaryDirectory() as folder:
        trainer = pl.Trainer(max_epochs=-1, val_check_interval=120, num_sanity_val_steps=0, logger=False, enable_checkpointing=False,
                             enable_progress_bar=False, enable_model_summary=False, accelerator="cpu",
                             callbacks=[Clerk(6, os.path.join(folder, "clerk"))])
        trainer.fit(Odds(), DataLoader(matches(300), batch_size=None), DataLoader(matches(1), batch_size=None))
    watch.tell()


main()
