"""Brakes of freight wagons that will fail: convolutions over their pressure, read in shuffled order through a loader with one worker.

Decoy: a worker, .item() after each step, a short sleep and a garbage collection now and then, a line in a log: all ready or tiny.
Truth: time that the loop waits for batches and spends on logging, sleeping and collecting, of the loop.
"""
import gc
import io
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

MOMENTS, GAUGES, BATCH = 320, 8, 32
watch = Stopwatch()


class Wagons(Dataset):
    def __init__(self, count):
        draw = torch.Generator().manual_seed(5)
        self.pressure = torch.randn(384, GAUGES, MOMENTS, generator=draw).cumsum(2) / 14
        self.fails = (self.pressure[:, 0, -1] + self.pressure[:, 3, -1] > 0.4).long()
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        return self.pressure[number % 384], self.fails[number % 384]


class Listener(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.into = nn.Conv1d(GAUGES, width, 7, padding=3)
        self.deep = nn.ModuleList(nn.Conv1d(width, width, 7, padding=3) for _ in range(4))
        self.fails = nn.Linear(width, 2)

    def forward(self, pressure):
        x = self.into(pressure)
        for conv in self.deep:
            x = x + nn.functional.gelu(conv(x))
        return self.fails(x.mean(2))


def trains(loader):
    """The worker brings three batches at once."""
    for pressure, fails in loader:
        yield from zip(pressure.split(BATCH), fails.split(BATCH))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(6)
    listener = Listener()
    optimizer = torch.optim.AdamW(listener.parameters(), lr=1e-3, fused=True)
    loader = DataLoader(Wagons(200000), batch_size=3 * BATCH, shuffle=True, num_workers=1, prefetch_factor=4)
    log, smooth = io.StringIO(), 0.7
    gc.freeze()
    batches = trains(loader)
    pressure, fails = next(batches)
    with watch.loop():
        while watch.seconds() < 6.3:
            loss = nn.functional.cross_entropy(listener(pressure), fails)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                smooth = 0.98 * smooth + 0.02 * loss.item()
                log.write(f"{len(watch.marks)},{smooth:.4f}\n")
                if len(watch.marks) % 60 == 59:
                    time.sleep(0.002)  # lets the depot's machine breathe
                    gc.collect()
                pressure, fails = next(batches)
            watch.step()
    print(f"loss {smooth:.4f}, {len(log.getvalue())} characters of log")
    watch.tell()


if __name__ == "__main__":
    main()
