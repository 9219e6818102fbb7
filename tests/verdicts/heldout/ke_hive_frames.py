"""Inspects frames of bee hives with Lightning: how much of a picture is brood, honey, pollen, wax or empty.

Planted: a callback of its own saves a whole checkpoint with the trainer after each third batch, and keeps the last two.
Truth: time in that callback, of the loop; one checkpoint at the end would do.
"""
import logging
import os
import tempfile
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
import lightning as L  # noqa: E402

from stopwatch import Stopwatch  # noqa: E402

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
watch = Stopwatch()
torch.set_num_threads(1)


class Frames(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(
            nn.Conv2d(3, 24, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv2d(24, 48, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(48, 64, 3, stride=2, padding=1), nn.ReLU())
        self.tell = nn.Sequential(nn.Flatten(), nn.Linear(64 * 8 * 8, 768), nn.ReLU(), nn.Linear(768, 5))

    def training_step(self, batch, _):
        pictures, parts = batch
        return nn.functional.cross_entropy(self.tell(self.look(pictures)), parts)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.9)


class Apiary(torch.utils.data.Dataset):
    """Twelve batches that were photographed once and are shown over and over."""

    def __init__(self):
        generator = torch.Generator().manual_seed(12)
        self.batches = [(torch.rand(16, 3, 64, 64, generator=generator),
                         torch.softmax(torch.rand(16, 5, generator=generator), 1)) for _ in range(12)]

    def __len__(self):
        return 100000

    def __getitem__(self, at):
        return self.batches[at % len(self.batches)]


class Inspector(L.Callback):
    """Ends in time."""

    def on_train_batch_end(self, trainer, *_):
        watch.step()
        if watch.seconds() > 6:
            trainer.should_stop = True


class Careful(L.Callback):
    def __init__(self, folder):
        self.folder = folder
        self.kept = []

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        if batch_idx % 3:
            return
        with watch.planted():
            path = os.path.join(self.folder, f"frames-{batch_idx:06d}.ckpt")
            trainer.save_checkpoint(path)
            self.kept.append(path)
            if len(self.kept) > 2:
                os.remove(self.kept.pop(0))


def main():
    L.seed_everything(3)
    loader = torch.utils.data.DataLoader(Apiary(), batch_size=None)
    with tempfile.TemporaryDirectory() as folder:
        trainer = L.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False,
                            enable_progress_bar=False, enable_model_summary=False,
                            callbacks=[Careful(folder), Inspector()])
        model = Frames()
        with watch.loop():
            trainer.fit(model, loader)
    print(f"weight {model.tell[3].bias[0].item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
