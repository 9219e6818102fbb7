"""Counts animals in tide pools; a few recordings must be fetched from tape.

Planted: one batch in fifteen takes 0.1 s, and the only worker prefetches a single batch, although on average it is fast enough.
Truth: time that the loop waits for its batches, as a share of the loop.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Pools(Dataset):
    def __len__(self):
        return 6000

    def __getitem__(self, index):
        if index % 120 == 119:
            time.sleep(0.1)
        return torch.full((3, 48, 48), index % 11 / 11.0), torch.tensor(float(index % 11))


def main():
    torch.manual_seed(8)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 32, 5), nn.ReLU(), nn.Conv2d(32, 32, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 20 * 20, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    loader = DataLoader(Pools(), batch_size=8, num_workers=1, prefetch_factor=1)
    watch = Stopwatch()
    with watch.loop():
        for pools, counts in watch.limited(watch.batches(loader), 4):
            loss = nn.functional.mse_loss(model(pools).squeeze(1), counts)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
