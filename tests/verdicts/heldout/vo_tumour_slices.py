"""Outlines tumours on slices of a scan: a small net that narrows and widens, trained with Ignite's engine and its Checkpoint.

Planted: the Checkpoint's handler stands at Events.ITERATION_COMPLETED(every=2), so model, optimizer and trainer go to the disk all the time.
Truth: time of the handler, of the loop.
"""
import tempfile

import torch
from ignite.engine import Engine, Events
from ignite.handlers import Checkpoint, DiskSaver
from torch import nn

from stopwatch import Stopwatch

SIDE, BATCH, SLICES = 48, 6, 96
watch = Stopwatch()


class Outline(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.narrow = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.SiLU(), nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.SiLU())
        self.place = nn.Sequential(nn.AdaptiveAvgPool2d(8), nn.Flatten(), nn.Linear(2 * width * 64, 640), nn.SiLU(), nn.Linear(640, 2 * width))
        self.widen = nn.Sequential(nn.ConvTranspose2d(2 * width, width, 2, stride=2), nn.SiLU(), nn.Conv2d(width, 1, 3, padding=1))

    def forward(self, scan):
        low = self.narrow(scan)
        return self.widen(low + self.place(low)[:, :, None, None])


def scans(draw):
    """Round tumours in noise."""
    grid = torch.stack(torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")).float()
    middles = torch.randint(12, SIDE - 12, (SLICES, 2, 1, 1), generator=draw)
    radii = torch.randint(4, 10, (SLICES, 1, 1), generator=draw)
    masks = ((grid - middles).pow(2).sum(1).sqrt() < radii).float()[:, None]
    return masks + 0.8 * torch.randn(masks.shape, generator=draw), masks


def main():
    torch.set_num_threads(1)
    torch.manual_seed(2)
    model = Outline()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4, fused=True)
    images, masks = scans(torch.Generator().manual_seed(7))
    batches = list(zip(images.split(BATCH), masks.split(BATCH)))

    def learn(engine, batch):
        scan, mask = batch
        loss = nn.functional.binary_cross_entropy_with_logits(model(scan), mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch.step()
        return loss.item()

    trainer = Engine(learn)
    with tempfile.TemporaryDirectory() as folder:
        safe = Checkpoint({"model": model, "optimizer": optimizer, "trainer": trainer}, DiskSaver(folder, require_empty=False), n_saved=2)

        @trainer.on(Events.ITERATION_COMPLETED(every=2))
        def keep(engine):
            with watch.planted():
                safe(engine)

        @trainer.on(Events.ITERATION_COMPLETED)
        def enough(engine):
            if watch.seconds() > 6.5:
                engine.terminate()

        with watch.loop():
            trainer.run(batches, max_epochs=10000)
    print(f"loss {trainer.state.output:.4f}")
    watch.tell()


main()
