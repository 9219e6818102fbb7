"""Marks kelp in pictures from a drone: an encoder and a decoder of convolutions, inference over tiles.

Clean: tiles of one size, no gradients, the whole time in convolutions.
Truth: 0.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def block(before, after):
    return nn.Sequential(nn.Conv2d(before, after, 3, padding=1), nn.ReLU(inplace=True), nn.Conv2d(after, after, 3, padding=1), nn.ReLU(inplace=True))


class Kelp(nn.Module):
    def __init__(self):
        super().__init__()
        self.near, self.far, self.joined = block(3, 24), block(24, 48), block(72, 24)
        self.mark = nn.Conv2d(24, 1, 1)

    def forward(self, tile):
        near = self.near(tile)
        far = nn.functional.interpolate(self.far(nn.functional.max_pool2d(near, 2)), scale_factor=2.0)
        return self.mark(self.joined(torch.cat([near, far], 1)))


def fly(model, tiles, watch):
    found = torch.zeros(())
    with watch.loop(), torch.inference_mode():
        at = 0
        while watch.seconds() < 6:
            found += model(tiles[at:at + 1]).sigmoid().mean()
            at = (at + 1) % len(tiles)
            watch.step()
    return found / len(watch.marks)


if __name__ == "__main__":
    torch.manual_seed(3)
    stopwatch = Stopwatch()
    print(f"kelp {fly(Kelp().eval(), torch.rand(16, 3, 128, 128), stopwatch).item():.3f}")
    stopwatch.tell()
