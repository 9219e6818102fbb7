"""Counts herring in echoes of a sonar: a regression with strided convolutions; the few echoes of a cruise are augmented by
workers of a loader.

Planted: the loader starts its two workers anew for each epoch of eight batches (no persistent_workers).
Truth: time until the first batch of each epoch is there, and until the workers have ended, of the loop.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

DEPTHS, PINGS = 64, 96


class Cruise(Dataset):
    def __init__(self, echoes=96):
        generator = torch.Generator().manual_seed(9)
        self.count = torch.rand(echoes, generator=generator)
        self.echoes = torch.rand(echoes, 1, DEPTHS, PINGS, generator=generator) * self.count[:, None, None, None]

    def __len__(self):
        return len(self.count)

    def __getitem__(self, index):
        shift = int(torch.randint(PINGS, ()))
        return torch.roll(self.echoes[index], shift, 2) + 0.02 * torch.randn(1, DEPTHS, PINGS), self.count[index]


def sonar():
    sizes, parts = [1, 24, 48, 64], []
    for width, to in zip(sizes, sizes[1:]):
        parts += [nn.Conv2d(width, to, 5, stride=2, padding=2), nn.GELU()]
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(sizes[-1], 1))


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model, watch = sonar(), Stopwatch()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    loader = DataLoader(Cruise(), batch_size=12, shuffle=True, num_workers=2, prefetch_factor=4)
    with watch.loop():
        while watch.seconds() < 6.5:
            with watch.planted():
                echoes = iter(loader)
                batch = next(echoes)
            while batch is not None:
                loss = nn.functional.mse_loss(model(batch[0]).squeeze(1), batch[1])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
                if echoes._num_yielded < len(loader):
                    batch = next(echoes)
                else:
                    with watch.planted():
                        batch = next(echoes, None)
            with watch.planted():
                del echoes
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
