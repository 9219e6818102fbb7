"""Learns currents of a river; a loader without workers only takes slices.

Decoy: the data set reads its large file before the loop, and a slice costs nearly nothing.
Truth: time in the loader, as a share of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Slices(Dataset):
    def __init__(self, path):
        torch.save(torch.rand(20000, 500), path)
        self.rows = torch.load(path)

    def __len__(self):
        return 100000

    def __getitem__(self, at):
        first = at * 97 % 19000
        return self.rows[first:first + 600]


def main():
    torch.manual_seed(79)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(500, 500), nn.Tanh(), nn.Linear(500, 100), nn.Tanh(), nn.Linear(100, 500))
    optimizer, watch = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9), Stopwatch()
    loader = DataLoader(Slices("currents.pt"), batch_size=None, num_workers=0)
    with watch.loop():
        for rows in watch.limited(watch.batches(loader), 5):
            loss = nn.functional.mse_loss(model(rows), rows)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
