"""Lightning learns years from tree rings that are all in memory.

Planted: nothing.
Truth: time of the data set and of putting batches together, as a share of the loop.
"""
import logging
import warnings

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader

from stopwatch import Stopwatch

watch = Stopwatch()


class Batches(torch.utils.data.Dataset):
    def __init__(self):
        self.rings = torch.rand(512, 1, 600)

    def __len__(self):
        return 5000

    def __getitem__(self, at):
        with watch.planted():
            first = at % 7 * 64
            return self.rings[first:first + 64], self.rings[first:first + 64, 0, :1]


class Years(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(1, 32, 9), nn.ReLU(), nn.Conv1d(32, 48, 9, stride=2), nn.ReLU(), nn.AdaptiveAvgPool1d(4),
                                 nn.Flatten(), nn.Linear(192, 1))

    def training_step(self, batch, _):
        return nn.functional.mse_loss(self.net(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)

    def on_train_start(self):
        watch.entered = watch.loop()
        watch.planted_s = 0.0
        watch.entered.__enter__()

    def on_train_batch_start(self, *_):
        return -1 if watch.seconds() > 4.5 else None

    def on_train_batch_end(self, *_):
        watch.step()

    def on_train_end(self):
        watch.entered.__exit__(None, None, None)


def main():
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    torch.manual_seed(67)
    torch.set_num_threads(1)
    trainer = pl.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False,
                         enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Years(), DataLoader(Batches(), batch_size=None, num_workers=0))
    watch.tell()


if __name__ == "__main__":
    main()
