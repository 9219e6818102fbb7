"""Finds ships in the pictures of a fjord; no training.

Decoy: a thread writes each result to a file and syncs it, but the loop only puts results into a queue.
Truth: time of putting results into the queue, as a share of the loop.
"""
import os
import queue
import threading

import torch
from torch import nn

from stopwatch import Stopwatch


class Lookout(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 32, 5, stride=2), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU())
        self.head = nn.Linear(64, 2)

    def forward(self, pictures):
        return self.head(self.net(pictures).mean((2, 3)))


def write_results(results):
    with open("ships.txt", "w", encoding="utf-8") as file:
        while (line := results.get()) is not None:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def main():
    torch.manual_seed(22)
    watch, model, results = Stopwatch(), Lookout().eval(), queue.SimpleQueue()
    writer = threading.Thread(target=write_results, args=(results,), daemon=True)
    writer.start()
    pictures = torch.rand(32, 3, 128, 128)
    with watch.loop(), torch.inference_mode():
        for number in range(10000):
            scores = model(pictures[number % 4 * 8:][:8])
            with watch.planted():
                results.put(f"{number} {scores[0, 0]:.4f}\n")
            watch.step()
            if watch.seconds() > 6:
                break
    watch.tell()
    results.put(None)
    writer.join()


if __name__ == "__main__":
    main()
