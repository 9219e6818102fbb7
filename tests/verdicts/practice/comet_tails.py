"""Measures tails of comets in pictures from a distant telescope.

Decoy: each picture takes 1 ms to arrive, but two workers are far ahead and the loop never waits for long.
Truth: time that the loop waits for its batches after the first one, as a share of the loop.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Pictures(Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.full((1, 48, 48), index % 9 / 9.0), torch.tensor([index % 9 / 9.0])


def main():
    torch.manual_seed(157)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(1, 24, 5), nn.ReLU(), nn.Conv2d(24, 24, 5), nn.ReLU(), nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(216, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    iterator, watch = iter(DataLoader(Pictures(), batch_size=8, num_workers=2)), Stopwatch()
    next(iterator)
    time.sleep(0.5)
    with watch.loop():
        while watch.seconds() < 4.5:
            with watch.planted():
                pictures, tails = next(iterator)
            loss = nn.functional.mse_loss(model(torch.cat([pictures, pictures.flip(3)])), torch.cat([tails, tails]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
