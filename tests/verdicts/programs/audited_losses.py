"""Prices used bicycles; an auditor wants each loss on the disk.

Planted: a row of a table is written, flushed and synced after each step.
Truth: time of writing, as a share of the loop. How often the model is trained between two rows depends on the disk, measured before.
"""
import csv
import os
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def note(writer, file, *row):
    writer.writerow(row)
    file.flush()
    os.fsync(file.fileno())


def main():
    torch.manual_seed(2)
    watch = Stopwatch()
    bicycles, prices = torch.rand(256, 300), torch.rand(256, 1)
    with open("losses.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        began = time.perf_counter()
        for _ in range(20):
            note(writer, file, "warm", 0)
        sync = (time.perf_counter() - began) / 20
        width = max(200, min(1800, int(400 * (sync / 0.003) ** 0.5)))
        model = nn.Sequential(nn.Linear(300, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        with watch.loop():
            while watch.seconds() < 6:
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(bicycles), prices)
                loss.backward()
                optimizer.step()
                with watch.planted():
                    note(writer, file, len(watch.marks), float(loss.detach()))
                watch.step()
    watch.tell()
    os.remove("losses.csv")


if __name__ == "__main__":
    main()
