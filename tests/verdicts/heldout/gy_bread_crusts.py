"""The colour of a crust from pictures out of the oven: a residual network, trained with Lightning.

Decoy: a validation of one batch, a checkpoint of a small model, a mean of the weights, self.log() and a hook on each layer: rare or tiny.
Truth: time in validations, checkpoints, means and hooks, of the loop.
"""
import contextlib
import logging
import tempfile
import warnings

import torch
from torch import nn

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
import lightning.pytorch as pl  # noqa: E402

SIDE, BATCH = 48, 20
watch = Stopwatch()


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.one, self.two = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return (x + self.two(self.one(x).relu())).relu()


class Crust(pl.LightningModule):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, width, 5, stride=2, padding=2), *[Residual(width) for _ in range(4)],
                                 nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 3))
        self.calls = 0
        for layer in self.net:
            layer.register_forward_hook(self.count)

    def count(self, *_):
        self.calls += 1

    def training_step(self, batch, _):
        loss = nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.log("loss", loss, batch_size=BATCH)
        return loss

    def validation_step(self, batch, _):
        self.log("off", (self.net(batch[0]) - batch[1]).abs().mean(), batch_size=BATCH)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.02, momentum=0.9, fused=True)


class Mean(pl.Callback):
    """A mean of the weights, brought up to date now and then."""

    def __init__(self):
        self.mean = None

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        if number % 25 == 24:
            with watch.planted(), torch.no_grad():
                flat = nn.utils.parameters_to_vector(module.parameters())
                self.mean = flat.clone() if self.mean is None else self.mean.lerp_(flat, 0.05)


class Clock(pl.Callback):
    def __init__(self, folder):
        self.open, self.check, self.folder = contextlib.ExitStack(), contextlib.ExitStack(), folder

    def on_train_start(self, *_):
        self.open.enter_context(watch.loop())

    def on_train_batch_end(self, trainer, *_):
        watch.step()
        if len(watch.marks) % 120 == 0:
            with watch.planted():
                trainer.save_checkpoint(f"{self.folder}/crust.ckpt")
        if watch.seconds() > 6.3:
            trainer.should_stop = True

    def on_validation_start(self, *_):
        self.check.enter_context(watch.planted())

    def on_validation_end(self, *_):
        self.check.close()

    def on_train_end(self, *_):
        self.open.close()


class Tray(torch.utils.data.IterableDataset):
    """Batches that were made before, over and over."""

    def __init__(self, batches, times):
        super().__init__()
        self.batches, self.times = batches, times

    def __len__(self):
        return len(self.batches) * self.times

    def __iter__(self):
        for _ in range(self.times):
            yield from self.batches


def loaves(count, seed):
    draw = torch.Generator().manual_seed(seed)
    made = []
    for _ in range(count):
        colour = torch.rand(BATCH, 3, generator=draw)
        made.append((colour[:, :, None, None] + 0.5 * torch.randn(BATCH, 3, SIDE, SIDE, generator=draw), colour))
    return made


def tray(batches, times):
    return torch.utils.data.DataLoader(Tray(batches, times), batch_size=None)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(10)
    with tempfile.TemporaryDirectory() as folder:
        trainer = pl.Trainer(max_steps=100000, val_check_interval=100, num_sanity_val_steps=0, accelerator="cpu", logger=False,
                             enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, callbacks=[Mean(), Clock(folder)])
        trainer.fit(Crust(), tray(loaves(20, 1), 200), tray(loaves(1, 2), 1))
    print(f"off by {trainer.callback_metrics.get('off', torch.zeros(())).item():.3f}")
    watch.tell()


main()
