"""Finds faded ink on scanned deeds of an archive with Lightning: patches in, a map of ink out, an area under the curve as the score.

Planted: after each batch the score is computed of all points since the beginning, sorted anew, so each step is longer than the last.
Truth: time of joining and sorting the points, of the loop.
"""
import logging
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
import lightning as L  # noqa: E402

from stopwatch import Stopwatch  # noqa: E402

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
watch = Stopwatch()
torch.set_num_threads(1)


class Curve:
    """The area under the ROC curve."""

    def __init__(self):
        self.scores, self.truth = [], []

    def update(self, scores, truth):
        self.scores.append(scores.detach().flatten())
        self.truth.append(truth.flatten())

    def compute(self):
        scores, truth = torch.cat(self.scores), torch.cat(self.truth)
        order = torch.argsort(scores)
        ranked = truth[order]
        inked = ranked.sum()
        ranks = torch.arange(1, len(ranked) + 1, dtype=torch.float64)
        return ((ranks * ranked).sum() - inked * (inked + 1) / 2) / (inked * (len(ranked) - inked))


class Ink(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 24, 5, stride=2, padding=2)
        self.middle = nn.Sequential(nn.ReLU(), nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1)
        self.curve = Curve()
        self.area = 0.0

    def training_step(self, batch, _):
        patches, ink = batch
        found = self.up(self.middle(self.down(patches)))
        with watch.planted():
            self.curve.update(found[:, :, ::4, ::4], ink[:, :, ::4, ::4])
            self.area = self.curve.compute()
        return nn.functional.binary_cross_entropy_with_logits(found, ink)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


class Deeds(torch.utils.data.IterableDataset):
    def __iter__(self):
        generator = torch.Generator().manual_seed(5)
        pages = []
        for _ in range(10):
            ink = (torch.rand(16, 1, 48, 48, generator=generator) > 0.8).float()
            pages.append((0.4 * ink + 0.5 * torch.rand(16, 1, 48, 48, generator=generator), ink))
        number = 0
        while watch.seconds() < 6:
            yield pages[number % 10]
            number += 1


class Count(L.Callback):
    def on_train_batch_end(self, *_):
        watch.step()


def main():
    L.seed_everything(8)
    loader = torch.utils.data.DataLoader(Deeds(), batch_size=None)
    trainer = L.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, callbacks=[Count()])
    model = Ink()
    with watch.loop():
        trainer.fit(model, loader)
    print(f"area {float(model.area):.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
