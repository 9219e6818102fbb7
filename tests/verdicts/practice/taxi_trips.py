"""Predicts the duration of taxi trips from the lines of their positions.

Planted: one worker parses each trip's text in Python, more slowly than the network learns.
Truth: time that the loop waits for the loader, as a share of the loop.
"""
import math
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Trips(Dataset):
    def __init__(self, count):
        source = random.Random(102)
        self.lines = [";".join(f"{source.uniform(-8.7, -8.5):.6f},{source.uniform(41.1, 41.2):.6f}" for _ in range(60)) for _ in range(500)]
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        points = [tuple(map(float, point.split(","))) for point in self.lines[index % 500].split(";")]
        rows = []
        for (east, north), (to_east, to_north) in zip(points, points[1:]):
            angle = math.atan2(to_north - north, to_east - east)
            rows.append((east + 8.6, north - 41.15, math.sin(angle), math.cos(angle), math.hypot(to_north - north, to_east - east)))
        return torch.tensor(rows), torch.tensor(float(len(rows)))


def main():
    torch.manual_seed(102)
    torch.set_num_threads(1)
    encoder, head = nn.GRU(5, 40, batch_first=True), nn.Linear(40, 1)
    optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=1e-4)
    loader = DataLoader(Trips(128 * 300), batch_size=128, num_workers=1)
    watch = Stopwatch()
    with watch.loop():
        for trips, durations in watch.limited(watch.batches(loader), 3.2):
            states, _ = encoder(trips)
            loss = nn.functional.mse_loss(head(states[:, -1])[:, 0], durations)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
