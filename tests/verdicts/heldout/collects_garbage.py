"""Reads old cadastral maps, with Lightning.

Decoy: the garbage is collected after each batch, weights are averaged and a checkpoint is written after each fortieth;
but what is there before is frozen, and the network is small. Truth: time of all of these, of the loop.
"""
import gc
import os
import tempfile

import lightning
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import Stopwatch

BATCH, WIDTH, SIGNS, EDGE = 24, 48, 60, 24


class SignReader(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(
            nn.Conv2d(1, WIDTH, 3, padding=1), nn.ReLU(),
            nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.ReLU(),
            nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2), nn.Conv2d(WIDTH, 64, 3, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(64 * 9, SIGNS))

    def training_step(self, batch, _):
        ink, sign = batch
        return nn.functional.cross_entropy(self.network(ink), sign, label_smoothing=0.1)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.9)


class Housekeeping(lightning.Callback):
    def __init__(self, folder, watch):
        self.folder, self.watch, self.average, self.found = folder, watch, None, 0

    def on_train_start(self, trainer, module):
        self.average = AveragedModel(module.network, multi_avg_fn=get_ema_multi_avg_fn(0.99))
        gc.freeze()

    def on_train_batch_end(self, trainer, module, *_):
        with self.watch.planted():
            self.average.update_parameters(module.network)
            self.found += gc.collect()
            if trainer.global_step % 40 == 0:
                torch.save(self.average.state_dict(), os.path.join(self.folder, "average.pt"))
        self.watch.step()
        if self.watch.seconds() > 6:
            trainer.should_stop = True


def maps(count=20):
    sign = torch.randint(0, SIGNS, (count, BATCH))
    stencil = (torch.rand(SIGNS, 1, EDGE, EDGE) > 0.7).float()
    return DataLoader(TensorDataset(stencil[sign] + 0.2 * torch.rand(count, BATCH, 1, EDGE, EDGE), sign), batch_size=None)


def main():
    lightning.seed_everything(40)
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        keeper = Housekeeping(folder, watch)
        trainer = lightning.Trainer(accelerator="cpu", max_epochs=1000, logger=False, enable_checkpointing=False,
                                    enable_progress_bar=False, enable_model_summary=False, callbacks=[keeper])
        with watch.loop():
            trainer.fit(SignReader(), maps())
    print(f"{keeper.found} objects collected")
    watch.tell()


if __name__ == "__main__":
    main()
