"""Where hail fell: pictures of four radars to maps of damage, a network of convolutions whose first layer makes the radars comparable.

Planted: that first layer takes the 1st and 99th percentile of each radar's pixels by torch.quantile, which sorts all of them in each step.
Truth: time of the percentiles, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

RADARS, SIDE, BATCH = 4, 96, 5


class Comparable(nn.Module):
    """Spreads what a radar sees between its percentiles over 0 to 1."""

    def __init__(self, watch):
        super().__init__()
        self.watch = watch
        self.register_buffer("at", torch.tensor([0.01, 0.99]))

    def forward(self, pictures):
        with self.watch.planted():
            low, high = torch.quantile(pictures.transpose(0, 1).flatten(1), self.at, dim=1)
        return (pictures - low[:, None, None]) / (high - low + 1e-4)[:, None, None]


class Swath(nn.Module):
    def __init__(self, watch):
        super().__init__()
        self.comparable = Comparable(watch)
        self.near = nn.Conv2d(RADARS, 20, 3, padding=1)
        self.far = nn.Conv2d(20, 20, 3, padding=3, dilation=3)
        self.down = nn.Conv2d(20, 40, 4, 4)
        self.up = nn.ConvTranspose2d(40, 1, 4, 4)

    def forward(self, pictures):
        seen = torch.relu(self.near(self.comparable(pictures)))
        seen = seen + torch.relu(self.far(seen))
        return self.up(torch.relu(self.down(seen)))[:, 0]


def afternoons(count):
    draw = torch.Generator().manual_seed(77)
    for _ in range(count):
        pictures = torch.randn(BATCH, RADARS, SIDE, SIDE, generator=draw).abs_() * torch.tensor([10.0, 14, 9, 30])[:, None, None]
        yield pictures, (pictures[:, 0] > 14).float()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(7)
    watch = Stopwatch()
    swath = Swath(watch)
    optimizer = torch.optim.AdamW(swath.parameters(), lr=5e-4, fused=True)
    days = list(afternoons(12))
    with watch.loop():
        while watch.seconds() < 6:
            pictures, damage = days[len(watch.marks) % len(days)]
            loss = nn.functional.binary_cross_entropy_with_logits(swath(pictures), damage)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
