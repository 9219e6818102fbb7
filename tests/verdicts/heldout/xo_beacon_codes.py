"""Reads the codes of lighthouses from their flashes: an encoder with attention over a night's brightness.

Decoy: two workers sleep for each sample, the loss is taken with .item(), a schedule and a log run in each step; but the workers
are far ahead, and the rest takes a moment.
Truth: time that the loop waits for batches, and of the schedule and the log, of the loop.
"""
import logging
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from stopwatch import Stopwatch

LIGHTS, MOMENTS, BATCH = 30, 96, 24


class Nights(IterableDataset):
    def __iter__(self):
        generator = torch.Generator().manual_seed(get_worker_info().id)
        while True:
            time.sleep(0.0005)
            light = int(torch.randint(LIGHTS, (), generator=generator))
            flashes = (torch.arange(MOMENTS) % (light + 3) < 2).float()
            yield flashes + 0.1 * torch.randn(MOMENTS, generator=generator), light


class Beacons(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.enter = nn.Linear(1, width)
        self.place = nn.Parameter(0.02 * torch.randn(MOMENTS, width))
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 3)
        self.leave = nn.Linear(width, LIGHTS)

    def forward(self, nights):
        return self.leave(self.body(self.enter(nights[..., None]) + self.place).mean(1))


def main():
    torch.manual_seed(61)
    log = logging.getLogger("beacons")
    log.addHandler(logging.FileHandler("beacons.log", mode="w"))
    log.setLevel(logging.INFO)
    model, watch = Beacons(), Stopwatch()
    torch.set_num_threads(1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, total_steps=100000)
    nights = iter(DataLoader(Nights(), batch_size=BATCH, num_workers=2, prefetch_factor=6))
    time.sleep(0.3)
    first = next(nights)
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                flashes, light = next(nights)
            loss = nn.functional.cross_entropy(model(flashes), light)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                schedule.step()
                log.info("%d %.4f", len(watch.marks), loss.item())
            watch.step()
    print(f"{len(first[1])} nights a batch")
    watch.tell()


main()
