"""Trains a tagger in Lightning; a callback keeps statistics of its errors.

Planted: after each batch, the callback computes how far tags are from the right ones, in plain Python.
Truth: time of these computations, as a share of the loop.
"""
import collections
import logging
import warnings

import torch
from lightning import pytorch as pl
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
watch = Stopwatch()


class Tagger(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Embedding(3000, 160), nn.Linear(160, 250), nn.ReLU(), nn.Linear(250, 20))

    def training_step(self, batch, _number):
        words, tags = batch
        scores = self.layers(words)
        return {"loss": nn.functional.cross_entropy(scores.flatten(0, 1), tags.flatten()), "guesses": scores.detach().argmax(-1)}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def edits(guesses, tags):
    row = list(range(len(tags) + 1))
    for number, guess in enumerate(guesses, 1):
        corner, row[0] = row[0], number
        for column, tag in enumerate(tags, 1):
            corner, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, corner + (guess != tag))
    return row[-1]


class Errors(pl.Callback):
    def __init__(self):
        self.distances = collections.Counter()

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        with watch.planted():
            for guesses, tags in zip(outputs["guesses"].tolist(), batch[1].tolist()):
                self.distances[edits(guesses, tags)] += 1
        watch.step()


def main():
    pl.seed_everything(128)
    data = TensorDataset(torch.randint(3000, (200 * 64, 32)), torch.randint(20, (200 * 64, 32)))
    trainer = pl.Trainer(max_steps=200, max_time={"seconds": 4}, logger=False, enable_checkpointing=False, accelerator="cpu",
                         callbacks=[Errors()], enable_progress_bar=False, enable_model_summary=False)
    with watch.loop():
        trainer.fit(Tagger(), DataLoader(data, batch_size=64))
    watch.tell()


if __name__ == "__main__":
    main()
