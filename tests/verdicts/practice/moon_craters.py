"""Finds craters in strips of the moon that a distant archive serves.

Planted: each strip takes 6 ms to arrive, so two workers deliver less than the loop could take.
Truth: time that the loop waits for its batches, as a share of the loop.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch


class Strips(Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        time.sleep(0.006)
        generator = torch.Generator().manual_seed(index)
        return torch.randn(1, 64, 64, generator=generator), torch.tensor(float(index % 2))


def main():
    torch.manual_seed(12)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(),
                          nn.Flatten(), nn.Linear(32 * 32 * 32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Strips(), batch_size=8, num_workers=2)
    watch = Stopwatch()
    with watch.loop():
        for strips, craters in watch.limited(watch.batches(loader), 3.6):
            loss = nn.functional.binary_cross_entropy_with_logits(model(strips).squeeze(1), craters)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
