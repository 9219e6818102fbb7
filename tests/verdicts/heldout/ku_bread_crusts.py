"""Says from pictures of crusts how long a loaf was in the oven.

Planted: the few loaves of a day make an epoch of 14 batches, and the loader's worker is started anew for each.
Truth: time until an epoch's first batch and after its last, until the worker has gone, of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

SIDE = 40


class Crusts(Dataset):
    def __init__(self, count=14 * 24):
        generator = torch.Generator().manual_seed(4)
        self.minutes = torch.rand(count, generator=generator)
        self.pictures = torch.rand(count, 3, SIDE, SIDE, generator=generator) * (1 - 0.7 * self.minutes.view(-1, 1, 1, 1))

    def __len__(self):
        return len(self.minutes)

    def __getitem__(self, index):
        picture = self.pictures[index]
        return picture.flip(2) if index % 2 else picture, self.minutes[index]


class Oven(nn.Module):
    def __init__(self):
        super().__init__()
        self.see = nn.Sequential(nn.Conv2d(3, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4))
        self.tell = nn.Linear(32 * 16, 1)

    def forward(self, pictures):
        return self.tell(self.see(pictures).flatten(1)).squeeze(1)


def days():
    """Batches of one day after the other."""
    loader = DataLoader(Crusts(), batch_size=24, shuffle=True, num_workers=1)
    while True:
        with watch.planted():
            batches = iter(loader)
            first = next(batches)
        yield first
        for _ in range(len(loader) - 1):
            yield next(batches)
        with watch.planted():
            assert next(batches, None) is None


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    watch, model = Stopwatch(), Oven()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with watch.loop():
        for pictures, minutes in watch.limited(days(), 6):
            loss = nn.functional.mse_loss(model(pictures), minutes)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()
