"""Learns from rows that a generator yields.

Decoy of a loader in the process: the DataLoader has no workers, but its data set yields whole batches from memory.
Truth: time that the loop spends in the loader, as a share of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from stopwatch import Stopwatch


class Rows(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        while True:
            yield from self.rows.split(192)


def main():
    torch.manual_seed(152)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(500, 800), nn.ReLU(), nn.Linear(800, 800), nn.ReLU(), nn.Linear(800, 500))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader, watch = DataLoader(Rows(torch.randn(192 * 60, 500)), batch_size=None), Stopwatch()
    with watch.loop():
        for rows in watch.limited(watch.batches(loader), 3.2):
            loss = nn.functional.mse_loss(model(rows), rows)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
