"""Estimates how long a round of parcels takes from its stops, with Lightning and a small set of attention blocks.

Planted: val_check_interval=8, so after each eighth batch the whole validation set is visited.
Truth: time between Lightning's start and end of a validation, of the loop.
"""
import time

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

STOPS, FACTS = 24, 6
watch = Stopwatch()


def rounds(count, seed):
    generator = torch.Generator().manual_seed(seed)
    stops = torch.rand(count, STOPS, FACTS, generator=generator)
    legs = (stops[:, 1:, :2] - stops[:, :-1, :2]).norm(dim=2).sum(1)
    return TensorDataset(stops, legs / STOPS + 0.1 * stops[:, :, 2].mean(1))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.look, self.think = nn.MultiheadAttention(width, 4, batch_first=True), nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
        self.norm, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        x = self.norm(x + self.look(x, x, x, need_weights=False)[0])
        return self.norm_2(x + self.think(x))


class Duration(L.LightningModule):
    def __init__(self, width=64):
        super().__init__()
        self.read, self.blocks, self.tell = nn.Linear(FACTS, width), nn.ModuleList(Block(width) for _ in range(3)), nn.Linear(width, 1)
        self.place = nn.Parameter(0.1 * torch.randn(STOPS, width))

    def forward(self, stops):
        x = self.read(stops) + self.place
        for block in self.blocks:
            x = block(x)
        return self.tell(x.mean(1)).squeeze(1)

    def training_step(self, batch, _):
        return nn.functional.huber_loss(self(batch[0]), batch[1])

    def validation_step(self, batch, _):
        self.log("minutes off", (self(batch[0]) - batch[1]).abs().mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.02, momentum=0.9)


class Clock(L.Callback):
    def on_train_start(self, trainer, module):
        self.loop = watch.loop()
        self.loop.__enter__()

    def on_train_batch_end(self, trainer, module, *_):
        watch.step()
        trainer.should_stop = watch.seconds() > 6

    def on_validation_start(self, trainer, module):
        self.began = time.perf_counter()

    def on_validation_end(self, trainer, module):
        watch.planted_s += time.perf_counter() - self.began

    def on_train_end(self, trainer, module):
        self.loop.__exit__(None, None, None)


if __name__ == "__main__":
    torch.manual_seed(0)
    trainer = L.Trainer(accelerator="cpu", max_epochs=-1, val_check_interval=8, num_sanity_val_steps=0, callbacks=[Clock()], logger=False,
                        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Duration(), DataLoader(rounds(3200, 1), 64, shuffle=True), DataLoader(rounds(1024, 2), 128))
    watch.tell()
