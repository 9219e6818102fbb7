"""Foretells the queue at a ferry from the last hours of arrivals: dilated convolutions over time, trained with Lightning.

Planted: the Trainer looks at the whole validation set after each fourth batch, as val_check_interval=4 says.
Truth: time between the hooks of the beginning and the end of a validation, of the loop.
"""
import contextlib
import logging
import warnings

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
import lightning.pytorch as pl  # noqa: E402

HOURS, HARBOURS, AHEAD = 72, 12, 6
watch = Stopwatch()


class Block(nn.Module):
    def __init__(self, width, gap):
        super().__init__()
        self.pad = nn.ConstantPad1d((2 * gap, 0), 0.0)
        self.mix = nn.Conv1d(width, 2 * width, 3, dilation=gap)

    def forward(self, x):
        tone, gate = self.mix(self.pad(x)).chunk(2, 1)
        return x + tone.tanh() * gate.sigmoid()


class Queue(pl.LightningModule):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(HARBOURS, width, 1), *[Block(width, 2 ** i) for i in range(4)], nn.Conv1d(width, AHEAD, 1))

    def forward(self, arrivals):
        return self.net(arrivals)[:, :, -24:]

    def training_step(self, batch, _):
        arrivals, queue = batch
        return nn.functional.smooth_l1_loss(self(arrivals), queue)

    def validation_step(self, batch, _):
        arrivals, queue = batch
        off = (self(arrivals) - queue).abs()
        self.log_dict({"off": off.mean(), "worst": off.amax()}, batch_size=len(arrivals))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3, fused=True)


class Clock(pl.Callback):
    """Measures the loop and ends it."""

    def __init__(self):
        self.open = contextlib.ExitStack()
        self.check = contextlib.ExitStack()

    def on_train_start(self, *_):
        self.open.enter_context(watch.loop())

    def on_train_batch_end(self, trainer, *_):
        watch.step()
        if watch.seconds() > 6.5:
            trainer.should_stop = True

    def on_validation_start(self, *_):
        self.check.enter_context(watch.planted())

    def on_validation_end(self, *_):
        self.check.close()

    def on_train_end(self, *_):
        self.open.close()


def timetable(days, seed):
    draw = torch.Generator().manual_seed(seed)
    tide = torch.arange(HOURS) / 6.2 + 6 * torch.rand(days, HARBOURS, 1, generator=draw)
    arrivals = tide.sin() + 0.3 * torch.randn(days, HARBOURS, HOURS, generator=draw)
    queue = torch.stack([arrivals[:, i:i + 4].cumsum(-1).sum(1)[:, -24:] / 20 for i in range(AHEAD)], 1)
    return TensorDataset(arrivals, queue)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    training = DataLoader(timetable(1536, 1), batch_size=32, drop_last=True)
    checking = DataLoader(timetable(320, 2), batch_size=64)
    trainer = pl.Trainer(max_epochs=1000, val_check_interval=4, num_sanity_val_steps=0, accelerator="cpu", logger=False,
                         enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, callbacks=[Clock()])
    trainer.fit(Queue(), training, checking)
    print(f"off by {trainer.callback_metrics['off'].item():.3f}")
    watch.tell()


main()
