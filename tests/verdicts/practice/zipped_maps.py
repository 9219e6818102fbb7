"""Lightning learns from maps of a city, which are compressed.

Planted: the data set decompresses each map in the training process.
Truth: time in the data set, as a share of the loop.
"""
import logging
import warnings
import zlib

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

SIDE = 160
watch = Stopwatch()


class Maps(Dataset):
    def __init__(self):
        noise = torch.randint(0, 6, (64, SIDE * SIDE), dtype=torch.uint8, generator=torch.Generator().manual_seed(5))
        self.maps = [zlib.compress(bytes(each.tolist()), 6) for each in noise]

    def __len__(self):
        return 40000

    def __getitem__(self, at):
        with watch.planted():
            raw = bytearray(zlib.decompress(self.maps[at % 64]))
            return torch.frombuffer(raw, dtype=torch.uint8).view(1, SIDE, SIDE).float(), at % 5


class Districts(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 8, 5, stride=5), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(),
                                 nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, 5))

    def training_step(self, batch, _):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)

    def on_train_start(self):
        watch.entered = watch.loop()
        watch.planted_s = 0.0
        watch.entered.__enter__()

    def on_train_batch_end(self, *_):
        watch.step()

    def on_train_batch_start(self, *_):
        return -1 if watch.seconds() > 4.5 else None

    def on_train_end(self):
        watch.entered.__exit__(None, None, None)


def main():
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    torch.manual_seed(5)
    torch.set_num_threads(1)
    trainer = pl.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False,
                         enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Districts(), DataLoader(Maps(), batch_size=32, num_workers=0))
    watch.tell()


if __name__ == "__main__":
    main()
