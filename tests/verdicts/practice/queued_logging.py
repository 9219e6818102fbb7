"""Regresses ages from faces, with a log that a thread of its own writes.

Decoy of logging: each step logs a line, which only enters a queue; another thread formats it and waits for the disk.
Truth: time of the loop's calls to the logger, as a share of the loop.
"""
import logging
import logging.handlers
import os
import queue
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch

log = logging.getLogger("ages")


class Durable(logging.FileHandler):
    def emit(self, record):
        super().emit(record)
        os.fsync(self.stream.fileno())


def main():
    torch.manual_seed(155)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(), nn.Flatten(),
                          nn.Linear(32 * 14 * 14, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    faces, watch, lines = torch.rand(600, 3, 64, 64), Stopwatch(), queue.SimpleQueue()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        listener = logging.handlers.QueueListener(lines, Durable(os.path.join(folder, "ages.log")))
        listener.start()
        log.addHandler(logging.handlers.QueueHandler(lines))
        log.setLevel(logging.INFO)
        with watch.loop():
            while watch.seconds() < 3.2:
                chosen = torch.randint(600, (48,))
                loss = (model(faces[chosen])[:, 0] - chosen / 600).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                with watch.planted():
                    log.info("step %d loss %.4f", len(watch.marks), loss.item())
                watch.step()
        listener.stop()
    watch.tell()


if __name__ == "__main__":
    main()
