"""Learns to draw small nebulae: a diffusion model that predicts the noise of pictures at 200 levels of noise.

Planted: levels are drawn by their mean loss, which is computed in each step from all losses since the start.
Truth: time of computing these means, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

LEVELS, SIDE, BATCH = 200, 10, 320


class LossAwareLevels:
    """Levels of noise with a large loss come more often."""

    def __init__(self):
        self.seen = []

    def weights(self):
        total, times = [1.0] * LEVELS, [1] * LEVELS
        for level, loss in self.seen:
            total[level] += loss
            times[level] += 1
        return torch.tensor([t / n for t, n in zip(total, times)])

    def draw(self, count):
        return torch.multinomial(self.weights(), count, replacement=True)

    def add(self, levels, losses):
        self.seen.extend(zip(levels.tolist(), losses.tolist()))


class Denoiser(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.level = nn.Embedding(LEVELS, channels)
        self.enter = nn.Conv2d(1, channels, 3, padding=1)
        self.middle = nn.Conv2d(channels, channels, 3, padding=1)
        self.leave = nn.Conv2d(channels, 1, 3, padding=1)

    def forward(self, pictures, levels):
        x = self.enter(pictures) + self.level(levels)[:, :, None, None]
        x = x + self.middle(nn.functional.silu(x))
        return self.leave(nn.functional.silu(x))


def nebulae(count):
    """Gauss's bells of light, a few in each picture."""
    generator = torch.Generator().manual_seed(9)
    axis = torch.linspace(-1, 1, SIDE, dtype=torch.float64)
    places = torch.rand(count, 3, 2, generator=generator, dtype=torch.float64) * 1.6 - 0.8
    x = torch.exp(-8 * (axis - places[..., :1]) ** 2)
    y = torch.exp(-8 * (axis - places[..., 1:]) ** 2)
    return torch.einsum("nky,nkx->nyx", y, x).unsqueeze(1).float()


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)  # the pictures are small
    pictures, model, sampler, watch = nebulae(20000), Denoiser(), LossAwareLevels(), Stopwatch()
    kept = torch.cos(torch.linspace(0, 1.5, LEVELS)) ** 2
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    with watch.loop():
        while watch.seconds() < 6.5:
            clear = pictures[torch.randint(len(pictures), (BATCH,))]
            with watch.planted():
                levels = sampler.draw(BATCH)
            noise = torch.randn_like(clear)
            keep = kept[levels][:, None, None, None]
            noisy = keep.sqrt() * clear + (1 - keep).sqrt() * noise
            losses = (model(noisy, levels) - noise).square().mean((1, 2, 3))
            optimizer.zero_grad()
            losses.mean().backward()
            optimizer.step()
            sampler.add(levels, losses.detach())
            watch.step()
    watch.tell()


main()
