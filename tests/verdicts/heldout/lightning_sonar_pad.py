"""Names the species of whales from tracks of clicks, with Lightning. Tracks have all lengths and come from JSON, as lists.

Planted: collate_fn pads the lists in Python and makes one tensor of nested lists, in the process of the loop.
Truth: time in collate_fn, of the loop.
"""
import logging
import random
import time
import warnings

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

SPECIES, FIELDS = 9, 6


class Tracks(Dataset):
    def __init__(self, count):
        random.seed(4)
        self.tracks = [[[random.gauss(0, 1) for _ in range(FIELDS)] for _ in range(random.randint(60, 240))] for _ in range(count)]

    def __len__(self):
        return len(self.tracks)

    def __getitem__(self, index):
        return self.tracks[index], index % SPECIES


class Padded:
    def __init__(self, watch):
        self.watch = watch

    def __call__(self, samples):
        with self.watch.planted():
            longest = max(len(track) for track, _ in samples)
            padded = [track + [[0.0] * FIELDS for _ in range(longest - len(track))] for track, _ in samples]
            return torch.tensor(padded), torch.tensor([species for _, species in samples])


class Whales(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.clicks = nn.Sequential(nn.Conv1d(FIELDS, 40, 7, padding=3), nn.ReLU(), nn.Conv1d(40, 40, 7, padding=3), nn.ReLU(),
                                    nn.Conv1d(40, 40, 5, padding=2), nn.ReLU())
        self.head = nn.Linear(40, SPECIES)

    def training_step(self, batch, number):
        tracks, species = batch
        return nn.functional.cross_entropy(self.head(self.clicks(tracks.transpose(1, 2)).mean(2)), species)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


class Watched(lightning.Callback):
    def __init__(self, watch):
        self.watch = watch

    def on_train_start(self, trainer, module):
        self.watch.began, self.watch.planted_s = time.perf_counter(), 0.0  # without Lightning's start

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        self.watch.step()
        if self.watch.seconds() > 6.5:
            trainer.should_stop = True


def main():
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    torch.manual_seed(4)
    watch = Stopwatch()
    loader = DataLoader(Tracks(640), batch_size=32, shuffle=True, collate_fn=Padded(watch))
    trainer = lightning.Trainer(max_epochs=-1, accelerator="cpu", logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False, callbacks=[Watched(watch)])
    with watch.loop():
        trainer.fit(Whales(), loader)
    watch.tell()


if __name__ == "__main__":
    main()
