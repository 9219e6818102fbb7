"""Tells where embers of a bush fire will land, with Lightning: a network of many small layers over wind and slope.

Planted: when the loss first jumps (one batch has wrong units), the module turns on autograd's anomaly detection to
see where it comes from, and never turns it off.
Truth: what steps take longer after that than before, of the loop.
"""
import logging
import statistics
import time
import warnings

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Gusts(Dataset):
    def __init__(self, watch, count=6400):
        pick = torch.Generator().manual_seed(17)
        self.watch, self.surveyed_twice = watch, False
        self.wind = torch.randn(count, 24, generator=pick)
        self.landing = torch.stack([self.wind[:, :12].sum(1), self.wind[:, 12:].prod(1).tanh()], 1)

    def __len__(self):
        return len(self.wind)

    def __getitems__(self, rows):
        wind, landing = self.wind[rows], self.landing[rows]
        if not self.surveyed_twice and self.watch.seconds() > 2.4:  # one crew wrote feet times ten
            self.surveyed_twice, landing = True, landing * 33
        return wind, landing


class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a, self.b = nn.Linear(width, width), nn.Linear(width, width)
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        centred = x - x.mean(1, keepdim=True)
        x = centred / (centred.square().mean(1, keepdim=True) + 1e-5).sqrt() * self.scale
        return x + torch.tanh(self.a(x)) * torch.sigmoid(self.b(x))


class Embers(pl.LightningModule):
    def __init__(self, width=96, depth=12):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(24, width), *(Gate(width) for _ in range(depth)), nn.Linear(width, 2))
        self.usual = None

    def training_step(self, batch, number):
        wind, landing = batch
        loss = nn.functional.mse_loss(self.net(wind), landing)
        now = loss.item()
        if self.usual is not None and now > 6 * self.usual + 1:
            torch.autograd.set_detect_anomaly(True, check_nan=False)
        self.usual = now if self.usual is None else 0.95 * self.usual + 0.05 * now
        return loss

    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        nn.utils.clip_grad_norm_(self.parameters(), 1.0, foreach=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-3)


class Watch(pl.Callback):
    def __init__(self, watch):
        self.watch, self.turned_on = watch, None

    def on_train_start(self, trainer, module):
        self.watch.began = time.perf_counter()

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        self.watch.step()
        if self.turned_on is None and torch.is_anomaly_enabled():
            self.turned_on = len(self.watch.marks)
        if self.watch.seconds() > 6.5:
            trainer.should_stop = True


def main():
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    torch.manual_seed(17)
    watch = Stopwatch()
    seen = Watch(watch)
    loader = DataLoader(Gusts(watch), batch_size=64, shuffle=True, collate_fn=lambda batch: batch)
    trainer = pl.Trainer(max_epochs=-1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                         enable_model_summary=False, callbacks=[seen])
    with watch.loop():
        trainer.fit(Embers(), loader)
    times = watch.step_times()
    at = seen.turned_on or len(times)
    before = statistics.median(times[5:at])
    longer = sum(times[at:]) - before * len(times[at:])
    print(f"anomaly detection from step {at} of {len(times)} on")
    watch.tell(longer / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
