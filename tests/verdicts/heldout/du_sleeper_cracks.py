"""Cracks in railway sleepers: a convolutional net on strips from a camera below a measuring car. One short round of the line after the other.

Planted: a round has five batches, and its DataLoader starts its worker anew for each round (persistent_workers is not set).
Truth: time from asking the loader for an iterator to the first batch of each round, as a share of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

watch = Stopwatch()


class Strips(Dataset):
    """Sleepers of a round, seeded by their number."""

    def __init__(self, count):
        self.count = count
        self.ballast = torch.rand(64, 128)

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        dice = torch.Generator().manual_seed(number)
        strip = self.ballast + 0.3 * torch.rand(64, 128, generator=dice)
        cracked = number % 3 == 0
        if cracked:
            at = int(torch.randint(8, 56, (1,), generator=dice))
            strip[at:at + 2, 20:100] *= 0.4
        return strip[None], float(cracked)


def net():
    return nn.Sequential(
        nn.Conv2d(1, 12, 5, 4, 2), nn.BatchNorm2d(12), nn.ReLU(), nn.Conv2d(12, 32, 3, 1, 1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 48, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 1))


def round_of(loader):
    with watch.planted():
        batches = iter(loader)
        first = next(batches)
    yield first
    yield from batches


def main():
    torch.manual_seed(44)
    torch.set_num_threads(1)
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, foreach=True)
    loader = DataLoader(Strips(80), batch_size=16, shuffle=True, num_workers=1)
    with watch.loop():
        while watch.seconds() < 6:
            for strips, cracked in round_of(loader):
                loss = nn.functional.binary_cross_entropy_with_logits(model(strips)[:, 0], cracked.float())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
