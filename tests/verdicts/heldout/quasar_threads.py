"""Estimates the redshift of quasars from their light.

Decoy: a lock, a queue to a thread that writes metrics, a thread that watches the memory, and a poll of a stop file, all in a moment.
Truth: time of all of these in the loop, of the loop.
"""
import os
import queue
import resource
import tempfile
import threading

import torch
from torch import nn

from stopwatch import Stopwatch

WAVES, BATCH = 512, 192


class Writer(threading.Thread):
    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.rows = path, queue.Queue()

    def run(self):
        with open(self.path, "w", encoding="utf-8") as file:
            while (row := self.rows.get()) is not None:
                file.write("%d,%.6f\n" % row)


class MemoryWatch(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.lock, self.peak, self.over = threading.Lock(), 0, threading.Event()

    def look(self):
        with self.lock:
            self.peak = max(self.peak, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    def run(self):
        while not self.over.wait(0.1):
            self.look()


class Redshift(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(WAVES, 1024), nn.SiLU(), nn.Linear(1024, 1024), nn.SiLU(), nn.Linear(1024, 512), nn.SiLU())
        self.mean, self.spread = nn.Linear(512, 1), nn.Linear(512, 1)

    def forward(self, light):
        hidden = self.layers(light)
        return self.mean(hidden).squeeze(1), nn.functional.softplus(self.spread(hidden)).squeeze(1) + 1e-3


def main():
    torch.manual_seed(19)
    watch = Stopwatch()
    light = torch.randn(30, BATCH, WAVES)
    shift = light[:, :, :16].mean(2)
    model = Redshift()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    with tempfile.TemporaryDirectory() as folder:
        writer, memory = Writer(os.path.join(folder, "metrics.csv")), MemoryWatch()
        writer.start()
        memory.start()
        step = 0
        with watch.loop():
            while watch.seconds() < 7:
                mean, spread = model(light[step % 30])
                loss = nn.functional.gaussian_nll_loss(mean, shift[step % 30], spread.square())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                with watch.planted():
                    writer.rows.put((step, loss.item()))
                    memory.look()
                    stop = os.path.exists(os.path.join(folder, "STOP"))
                step += 1
                watch.step()
                if stop:
                    break
        writer.rows.put(None)
        memory.over.set()
        writer.join()
        memory.join()
    print(f"loss {loss.item():.4f}, at most {memory.peak // 1024} MB")
    watch.tell()


if __name__ == "__main__":
    main()
