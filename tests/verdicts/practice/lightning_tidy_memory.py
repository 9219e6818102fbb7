"""Links names in Lightning to the entries of a knowledge base, which lies in memory as objects.

Planted: a callback collects garbage after every sixth batch, "to keep memory low".
Truth: time of these collections, as a share of the loop.
"""
import gc
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


class Entry:
    def __init__(self, number):
        self.names, self.related = [f"name {number}"], {"next": number + 1}


class Linker(pl.LightningModule):
    def __init__(self, base):
        super().__init__()
        self.base = base
        self.layers = nn.Sequential(nn.Linear(500, 900), nn.ReLU(), nn.Linear(900, 600), nn.ReLU(), nn.Linear(600, 100))

    def training_step(self, batch, _number):
        names, entries = batch
        return nn.functional.cross_entropy(self.layers(names), entries)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.9)


class Tidy(pl.Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        if number % 6 == 5:
            with watch.planted():
                gc.collect()
        watch.step()


def main():
    pl.seed_everything(215)
    torch.set_num_threads(1)
    base = {number: Entry(number) for number in range(8000)}
    data = TensorDataset(torch.randn(400 * 120, 500), torch.randint(100, (400 * 120,)))
    trainer = pl.Trainer(max_steps=400, max_time={"seconds": 4}, logger=False, enable_checkpointing=False, accelerator="cpu",
                         callbacks=[Tidy()], enable_progress_bar=False, enable_model_summary=False)
    with watch.loop():
        trainer.fit(Linker(base), DataLoader(data, batch_size=120))
    watch.tell()


if __name__ == "__main__":
    main()
