"""Smooths the tremor out of a surgical robot's path, with Lightning.

Planted: a callback packs the weights with zlib and signs them after each tenth batch, and the loop waits for that.
Truth: time of the callback, as a share of the loop.
"""
import hashlib
import io
import os
import tempfile
import zlib

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

BATCH, WIDTH, AXES, PAST = 256, 512, 7, 64


class Steady(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.path = nn.Sequential(nn.Flatten(), nn.Linear(AXES * PAST, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU(),
                                  nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, AXES))

    def forward(self, past):
        return past[:, :, -1] + self.path(past)

    def training_step(self, batch, _):
        past, wanted = batch
        return nn.functional.huber_loss(self(past), wanted)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=3e-3, momentum=0.9)


class SignedSnapshots(lightning.Callback):
    """The authority wants each published weight to be traceable."""

    def __init__(self, folder, every, watch):
        self.folder, self.every, self.watch, self.ledger = folder, every, watch, []

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        if trainer.global_step % self.every == 0:
            with self.watch.planted():
                self.write(trainer.global_step, module)
        self.watch.step()
        if self.watch.seconds() > 6:
            trainer.should_stop = True

    def write(self, step, module):
        buffer = io.BytesIO()
        torch.save({"step": step, "weights": module.state_dict()}, buffer)
        packed = zlib.compress(buffer.getbuffer(), 6)
        name = os.path.join(self.folder, f"steady-{step % (4 * self.every)}.pt.z")
        with open(name + ".part", "wb") as file:
            file.write(packed)
        os.replace(name + ".part", name)
        self.ledger.append((step, len(packed), hashlib.sha256(packed).hexdigest()))


def paths(count=36):
    time = torch.linspace(0, 3, PAST + 1)
    clean = torch.sin(time * (torch.rand(count, BATCH, AXES, 1) * 4 + 1))
    shaken = clean[..., :-1] + 0.05 * torch.randn(count, BATCH, AXES, PAST)
    return DataLoader(TensorDataset(shaken, clean[..., -1].contiguous()), batch_size=None)


def main():
    lightning.seed_everything(38)
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        snapshots = SignedSnapshots(folder, 10, watch)
        trainer = lightning.Trainer(accelerator="cpu", max_epochs=1000, logger=False, enable_checkpointing=False,
                                    enable_progress_bar=False, enable_model_summary=False, callbacks=[snapshots])
        with watch.loop():
            trainer.fit(Steady(), paths())
    print(f"{len(snapshots.ledger)} snapshots, the last of {snapshots.ledger[-1][1]} bytes")
    watch.tell(snapshots=len(snapshots.ledger))


if __name__ == "__main__":
    main()
