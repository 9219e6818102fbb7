"""Draws the wings of moths: a generator that is compared with real outlines by their moments, and watched.

Planted: each step computes how far each outline is from the nearest real one, for a number in the log, by a difference
of all with all, 35 MB, that is made anew each time.
Truth: time of this number, as a share of the loop.
"""
import collections

import torch
from torch import nn

from stopwatch import Stopwatch

POINTS, LATENT, BATCH = 64, 24, 368


class Wing(nn.Module):
    def __init__(self, width=384):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(LATENT, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
                                 nn.Linear(width, width), nn.SiLU(), nn.Linear(width, POINTS))

    def forward(self, latent):
        return self.net(latent)


def real_wings(count=BATCH * 6):
    angle = torch.linspace(0, 2 * torch.pi, POINTS)
    long, bend = 1 + torch.rand(count, 1), torch.rand(count, 1)
    return long * torch.cos(angle) ** 2 + bend * torch.sin(3 * angle) + 0.05 * torch.randn(count, POINTS)


def random_features(outlines, frequency, phase):
    return torch.cos(outlines @ frequency + phase)


@torch.no_grad()
def nearest(drawn, real):
    """Mean distance to the nearest real outline; 0 if the generator copies."""
    apart = drawn[:, None, :] - real[None, :, :]
    return apart.square().sum(2).sqrt().min(1).values.mean().item()


def main():
    torch.manual_seed(23)
    generator, watch = Wing(), Stopwatch()
    optimizer = torch.optim.RMSprop(generator.parameters(), lr=5e-4)
    wings = real_wings()
    frequency, phase = torch.randn(POINTS, 6144) * 0.4, torch.rand(6144) * 6.28
    last = collections.deque(maxlen=100)
    with watch.loop():
        for step in watch.limited(range(100000), 6.5):
            real = wings[step % 6 * BATCH:][:BATCH]
            drawn = generator(torch.randn(BATCH, LATENT))
            gap = random_features(drawn, frequency, phase).mean(0) - random_features(real, frequency, phase).mean(0)
            loss = gap.square().sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                last.append(nearest(drawn, real))
            watch.step()
    print(f"loss {loss.item():.4f}, nearest {sum(last) / len(last):.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
