"""Recognises what is left in a pantry.

Decoy: each photograph comes from a slow store, for which a worker sleeps, but two workers are always far enough ahead.
Truth: the loop's time of waiting for batches, of the loop.
"""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

BATCH, EDGE, THINGS = 16, 48, 30


class SlowStore(Dataset):
    """Half a millisecond for each photograph, as from a share in the same house."""

    def __init__(self):
        self.photos = torch.rand(200, 3, EDGE, EDGE, generator=torch.Generator().manual_seed(18))

    def __len__(self):
        return 1_000_000

    def __getitem__(self, number):
        time.sleep(0.0005)
        return self.photos[number % 200], number % THINGS


class Squeeze(nn.Module):
    def __init__(self, inside, narrow, wide):
        super().__init__()
        self.squeeze = nn.Conv2d(inside, narrow, 1)
        self.one, self.three = nn.Conv2d(narrow, wide, 1), nn.Conv2d(narrow, wide, 3, padding=1)

    def forward(self, maps):
        maps = self.squeeze(maps).relu()
        return torch.cat([self.one(maps).relu(), self.three(maps).relu()], 1)


def make_model():
    return nn.Sequential(nn.Conv2d(3, 48, 5, stride=2, padding=2), nn.ReLU(), Squeeze(48, 32, 64), Squeeze(128, 32, 64), nn.MaxPool2d(2),
                         Squeeze(128, 48, 96), Squeeze(192, 48, 96), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(192, THINGS))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(18)
    watch = Stopwatch()
    loader = DataLoader(SlowStore(), batch_size=BATCH, num_workers=2, prefetch_factor=6)
    batches = iter(loader)
    first = next(batches)  # the workers begin
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True)
    print("first labels", first[1][:4].tolist())
    with watch.loop():
        for photos, things in watch.limited(watch.batches(batches), 7):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(photos), things)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
