"""Grains of pollen under the microscope by their kind: separable convolutions over small pictures, a loader with one worker that brings slides of four batches.

Decoy: the worker turns grains pixel by pixel for a few of them and naps, but is three slides ahead; a running mean, a scheduler, rare trials, .item().
Truth: time that the loop waits for the loader, and of the mean, the scheduler, the trials and .item(), as a share of the loop.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from stopwatch import Stopwatch

KINDS, SIDE, SLIDE, BATCH = 11, 32, 160, 40


class Microscope(IterableDataset):
    def __iter__(self):
        draw = torch.Generator().manual_seed(55)
        while True:
            grains = torch.randn(SLIDE, 1, SIDE, SIDE, generator=draw)
            kind = torch.randint(KINDS, (SLIDE,), generator=draw)
            grains += kind[:, None, None, None] / KINDS
            for grain in grains[:2]:
                for pixel in range(SIDE):
                    grain[0, pixel] = grain[0, pixel].flip(0)
            time.sleep(0.004)
            yield grains, kind


def separable(entering, leaving):
    return nn.Sequential(nn.Conv2d(entering, entering, 3, padding=1, groups=entering), nn.Conv2d(entering, leaving, 1), nn.GroupNorm(4, leaving), nn.SiLU())


def main():
    torch.set_num_threads(1)
    torch.manual_seed(14)
    network = nn.Sequential(nn.Conv2d(1, 32, 4, 2, 1), separable(32, 64), separable(64, 64), nn.AvgPool2d(2), separable(64, 96),
                            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(96, KINDS))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.03, momentum=0.9, nesterov=True, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 1000)
    watch, mean = Stopwatch(), 2.4
    grains_of_trial = torch.randn(24, 1, SIDE, SIDE)
    slides = iter(DataLoader(Microscope(), None, num_workers=1, prefetch_factor=3))
    for _ in range(2):
        next(slides)
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                slide, kinds = next(slides)
            for grains, kind in zip(slide.split(BATCH), kinds.split(BATCH)):
                loss = nn.functional.cross_entropy(network(grains), kind)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                with watch.planted():
                    schedule.step()
                    mean += 0.05 * (loss.item() - mean)
                    if len(watch.marks) % 80 == 79:
                        with torch.no_grad():
                            network(grains_of_trial)
                watch.step()
    print(f"loss {mean:.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
