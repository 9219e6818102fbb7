"""Estimates the cover of lichen on stones from photos, with Lightning; the field notes of the survey stay in memory.

Planted: a callback from a notebook "frees memory" with gc.collect() after every second batch, and the collector walks over
all notes of the survey each time.
Truth: time in gc.collect(), of the loop.
"""
import gc
import logging
import random
import time
import warnings
from dataclasses import dataclass, field

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

STONES, SIDE = 512, 48


@dataclass
class Note:
    stone: int
    observer: str
    species: list = field(default_factory=list)
    place: dict = field(default_factory=dict)


def field_notes(count):
    names = ["Caloplaca", "Xanthoria", "Lecanora", "Rhizocarpon", "Parmelia"]
    pick = random.Random(6)
    return [Note(n % STONES, f"observer {n % 40}", pick.sample(names, 2), {"north": [pick.random()], "east": [pick.random()]})
            for n in range(count)]


class Notebook(L.Callback):
    """Prints what the observers thought of the last stone, at times, and keeps the memory small."""

    def __init__(self, notes, watch):
        self.notes, self.watch = notes, watch
        self.by_stone = {}
        for note in notes:
            self.by_stone.setdefault(note.stone, []).append(note)

    def on_train_start(self, trainer, module):
        self.watch.began, self.watch.planted_s = time.perf_counter(), 0.0

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        if trainer.global_step % 100 == 0:
            first = self.by_stone[trainer.global_step % STONES][0]
            print(f"{trainer.global_step}: {outputs['loss'].item():.3f} {first.observer} saw {', '.join(first.species)}")
        if number % 2:
            with self.watch.planted():
                gc.collect()
        self.watch.step()
        if self.watch.seconds() > 6.5:
            trainer.should_stop = True


class Lichens(L.LightningModule):
    def __init__(self):
        super().__init__()
        width = 24
        self.body = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(2 * width, 64, 3, padding=1), nn.ReLU(),
                                  nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.cover = nn.Linear(64, 5)

    def training_step(self, batch, number):
        photos, cover = batch
        loss = nn.functional.binary_cross_entropy_with_logits(self.cover(self.body(photos)), cover)
        return {"loss": loss}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9, nesterov=True)


def main():
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    L.seed_everything(6)
    watch = Stopwatch()
    photos = torch.rand(STONES, 3, SIDE, SIDE)
    cover = (photos.mean((2, 3)) @ torch.rand(3, 5) * 0.9).clamp(0, 1)
    loader = DataLoader(TensorDataset(photos, cover), batch_size=64, shuffle=True)
    trainer = L.Trainer(max_epochs=-1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                        enable_model_summary=False, callbacks=[Notebook(field_notes(4_000), watch)])
    with watch.loop():
        trainer.fit(Lichens(), loader)
    watch.tell()


if __name__ == "__main__":
    main()
