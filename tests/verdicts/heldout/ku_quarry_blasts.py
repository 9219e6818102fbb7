"""Tells blasts in a quarry from small earthquakes by a seismogram, with Lightning and one-dimensional convolutions.

Clean: seismograms of one length lie in memory, and each step is the same convolutions.
Truth: time between two training batches, of the loop.
"""
import time

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

watch = Stopwatch()


class Seismic(L.LightningModule):
    def __init__(self):
        super().__init__()
        layers, width = [], 1
        for wider, stride in ((16, 2), (32, 2), (48, 2), (64, 2)):
            layers += [nn.Conv1d(width, wider, 9, stride=stride, padding=4), nn.SiLU(), nn.Conv1d(wider, wider, 5, padding=2), nn.SiLU()]
            width = wider
        self.listen = nn.Sequential(*layers, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(width, 2))

    def training_step(self, batch, _):
        return nn.functional.cross_entropy(self.listen(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.02)


class Clock(L.Callback):
    def on_train_start(self, trainer, module):
        self.loop, self.ended = watch.loop(), None
        self.loop.__enter__()

    def on_train_batch_start(self, trainer, module, *_):
        if self.ended:
            watch.planted_s += time.perf_counter() - self.ended

    def on_train_batch_end(self, trainer, module, *_):
        watch.step()
        self.ended = time.perf_counter()
        trainer.should_stop = watch.seconds() > 6.5

    def on_train_end(self, trainer, module):
        self.loop.__exit__(None, None, None)


def seismograms(count=2048, length=1536):
    start = torch.arange(length).repeat(count, 1) - torch.randint(200, 600, (count, 1))
    blast = torch.arange(count) % 2
    fade = 40.0 + 160.0 * (1 - blast).unsqueeze(1)
    return TensorDataset((torch.randn(count, length) * (0.1 + torch.exp(-start.clamp(min=0) / fade) * (start >= 0))).unsqueeze(1), blast)


if __name__ == "__main__":
    torch.manual_seed(5)
    trainer = L.Trainer(accelerator="cpu", max_epochs=-1, callbacks=[Clock()], logger=False, enable_checkpointing=False, enable_progress_bar=False,
                        enable_model_summary=False)
    trainer.fit(Seismic(), DataLoader(seismograms(), 32, shuffle=True, drop_last=True))
    watch.tell()
