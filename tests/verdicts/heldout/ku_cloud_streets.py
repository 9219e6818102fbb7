"""Finds streets of clouds on satellite pictures: inference with a network of depthwise convolutions.

Planted: each block copies its maps to channels-last for a norm over channels, and copies them back.
Truth: time of these copies, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

SIDE, PICTURES, WIDTH = 72, 2, 48
watch = Stopwatch()


class ChannelNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, maps):
        with watch.planted():
            last = maps.permute(0, 2, 3, 1).contiguous()
        last = self.norm(last)
        with watch.planted():
            return last.permute(0, 3, 1, 2).contiguous()


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.look = nn.Conv2d(width, width, 3, padding=1, groups=width)
        self.before, self.behind = ChannelNorm(width), ChannelNorm(width)
        self.mix = nn.Conv2d(width, width, 1)

    def forward(self, maps):
        return maps + self.mix(self.behind(torch.relu(self.look(self.before(maps)))))


class Streets(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.leave = nn.Conv2d(4, WIDTH, 3, padding=1), nn.Conv2d(WIDTH, 1, 1)
        self.blocks = nn.Sequential(*(Block(WIDTH) for _ in range(7)))

    def forward(self, bands):
        return self.leave(self.blocks(torch.relu(self.enter(bands))))


@torch.inference_mode()
def main():
    torch.manual_seed(6)
    streets = Streets().eval()
    sky = torch.rand(8, PICTURES, 4, SIDE, SIDE)
    covered = 0.0
    with watch.loop():
        for picture in range(100000):
            covered += float((streets(sky[picture % 8]) > 0).float().mean())
            watch.step()
            if watch.seconds() > 6:
                break
    print(f"covered {covered / (picture + 1):.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
