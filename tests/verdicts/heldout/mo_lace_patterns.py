"""Learns to complete patterns of bobbin lace by attention over rows.

Decoy: two workers make patterns well ahead, .item() is called in each step, the youngest garbage is collected, a thread
sleeps and counts, and a queue gets a line of log; none of it costs the loop more than a moment.
Truth: time of these and of waiting for the workers, of the loop.
"""
import gc
import queue
import threading
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from stopwatch import Stopwatch

ROWS, PINS, BATCH = 96, 64, 12


class Patterns(IterableDataset):
    def __iter__(self):
        generator = torch.Generator().manual_seed(100 + get_worker_info().id)
        while True:
            repeat = torch.randint(2, 9, (1,), generator=generator)
            yield ((torch.arange(ROWS).view(-1, 1) * repeat + torch.arange(PINS)) % 7 < 3).float()


class Lace(nn.Module):
    def __init__(self, width=160):
        super().__init__()
        self.enter, self.row = nn.Linear(PINS, width), nn.Parameter(torch.zeros(ROWS, width))
        layer = nn.TransformerEncoderLayer(width, 4, 512, dropout=0.0, batch_first=True)
        self.layers, self.leave = nn.TransformerEncoder(layer, 3), nn.Linear(width, PINS)

    def forward(self, rows):
        return self.leave(self.layers(self.enter(rows) + self.row))


class Diary(threading.Thread):
    """Writes what it is told, and sleeps in between."""

    def __init__(self):
        super().__init__(daemon=True)
        self.lines, self.closed, self.written = queue.Queue(), threading.Event(), 0

    def run(self):
        while not self.closed.is_set():
            time.sleep(0.25)
            while not self.lines.empty():
                self.written += len(self.lines.get())


def main():
    torch.manual_seed(5)
    loader = DataLoader(Patterns(), batch_size=BATCH, num_workers=2, prefetch_factor=6, persistent_workers=True)
    model, watch, diary = Lace(), Stopwatch(), Diary()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    diary.start()
    batches = iter(loader)
    next(batches)
    with watch.loop():
        for step in watch.limited(range(10000), 6.5):
            with watch.planted():
                rows = next(batches)
            hidden = torch.rand(BATCH, ROWS, 1) < 0.3
            loss = nn.functional.binary_cross_entropy_with_logits(model(rows * ~hidden), rows)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                diary.lines.put(f"step {step}: {loss.item():.4f}")
                if step % 20 == 0:
                    gc.collect(0)
            watch.step()
    watch.tell()
    diary.closed.set()
    diary.join()


if __name__ == "__main__":
    main()
