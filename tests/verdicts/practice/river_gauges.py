"""Forecasts the level of a river from gauges upstream, whose readings lie in a CSV file.

Planted: the data set parses the lines of its window with csv and datetime, in the training process.
Truth: time that the loop waits for its batches, as a share of the loop.
"""
import csv
import datetime
import io
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Gauges(Dataset):
    def __init__(self):
        source = random.Random(5)
        began = datetime.datetime(2020, 1, 1)
        self.lines = [",".join([(began + datetime.timedelta(hours=hour)).isoformat()] + [f"{source.gauss(2, 0.4):.3f}" for _ in range(12)])
                      for hour in range(4000)]

    def __len__(self):
        return 3900

    def __getitem__(self, index):
        rows = csv.reader(io.StringIO("\n".join(self.lines[index: index + 25])))
        values = [[datetime.datetime.fromisoformat(row[0]).hour / 24, *map(float, row[1:])] for row in rows]
        return torch.tensor(values[:24]), torch.tensor(values[24][1])


def main():
    torch.manual_seed(5)
    torch.set_num_threads(1)
    recurrent, head = nn.GRU(13, 96, batch_first=True), nn.Linear(96, 1)
    parameters = [*recurrent.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-3, foreach=True)
    loader = DataLoader(Gauges(), batch_size=64, shuffle=True)
    watch = Stopwatch()
    with watch.loop():
        for _ in watch.limited(range(100), 3.4):
            for window, level in watch.limited(watch.batches(loader), 3.4):
                states, _ = recurrent(window)
                loss = nn.functional.mse_loss(head(states[:, -1]).squeeze(1), level)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(parameters, 1.0)
                optimizer.step()
                watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
