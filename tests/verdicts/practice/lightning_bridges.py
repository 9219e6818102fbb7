"""Classifies photos of bridges in Lightning.

Planted: nothing. A plain module, its data in memory.
Truth: time of making batches, as a share of the loop.
"""
import logging
import time
import warnings

import torch
from lightning import pytorch as pl
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
watch = Stopwatch()


class Photos(Dataset):
    """A sample is a batch that is ready."""

    def __init__(self):
        self.photos, self.kinds = torch.rand(8, 24, 3, 64, 64), torch.randint(0, 5, (8, 24))

    def __len__(self):
        return 2000

    def __getitem__(self, at):
        began = time.perf_counter()
        batch = self.photos[at % 8], self.kinds[at % 8]
        watch.planted_s += time.perf_counter() - began
        return batch


class Bridges(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU(),
                                 nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 5))

    def training_step(self, batch, _number):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def on_train_batch_end(self, *_unused):
        watch.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.9)


def main():
    pl.seed_everything(17)
    trainer = pl.Trainer(max_epochs=1, max_time={"seconds": 6}, logger=False, enable_checkpointing=False, accelerator="cpu",
                         enable_progress_bar=False, enable_model_summary=False)
    with watch.loop():
        trainer.fit(Bridges(), DataLoader(Photos(), batch_size=None))
    watch.tell()


if __name__ == "__main__":
    main()
