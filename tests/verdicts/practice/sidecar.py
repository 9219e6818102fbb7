"""Learns the gait of horses; a second process keeps the metrics.

Decoy: the process syncs each number to the disk, but the loop only puts it into a queue.
Truth: time of putting, as a share of the loop.
"""
import multiprocessing
import os

import torch
from torch import nn

from stopwatch import Stopwatch


def keep(numbers, path):
    with open(path, "w", encoding="ascii") as file:
        while (number := numbers.get()) is not None:
            file.write(f"{number}\n")
            file.flush()
            os.fsync(file.fileno())


def main():
    torch.manual_seed(24)
    watch = Stopwatch()
    numbers = multiprocessing.get_context("fork").Queue()
    process = multiprocessing.get_context("fork").Process(target=keep, args=(numbers, "gait.txt"))
    process.start()
    model = nn.Sequential(nn.Linear(700, 1500), nn.ReLU(), nn.Linear(1500, 1500), nn.ReLU(), nn.Linear(1500, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    horses, gaits = torch.rand(320, 700), torch.arange(320) % 4
    with watch.loop():
        while watch.seconds() < 6:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(horses), gaits)
            loss.backward()
            optimizer.step()
            if len(watch.marks) % 10 == 0:
                number = float(loss)
                with watch.planted():
                    numbers.put(number)
            watch.step()
    watch.tell()
    numbers.put(None)
    process.join()
    os.remove("gait.txt")


if __name__ == "__main__":
    main()
