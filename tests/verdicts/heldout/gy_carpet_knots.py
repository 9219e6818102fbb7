"""Grades carpets by their knots: a convolutional network in the style of ConvNeXt looks at pictures from a scanner and gives each one of
seven grades. Inference only.

Planted: channels are last for the norm and first for the convolutions, so each block copies its whole map there and back by .contiguous().
Truth: time of these copies, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

SIDE, GRADES, BATCH = 48, 7, 3
watch = Stopwatch()


def channels_last(x):
    with watch.planted():
        return x.permute(0, 2, 3, 1).contiguous()


def channels_first(x):
    with watch.planted():
        return x.permute(0, 3, 1, 2).contiguous()


class Norm(nn.LayerNorm):
    """Over the channels of a map."""

    def forward(self, x):
        return channels_first(super().forward(channels_last(x)))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.near = nn.Conv2d(width, width, 3, padding=1, groups=8)
        self.norm = Norm(width)
        self.mix = nn.Conv2d(width, width, 1)

    def forward(self, x):
        return x + self.mix(self.norm(self.near(x)).relu_())


class Grader(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 4, stride=2, padding=1)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(6)])
        self.last = Norm(width)
        self.grade = nn.Linear(width, GRADES)

    def forward(self, pictures):
        return self.grade(self.last(self.blocks(self.stem(pictures))).amax((2, 3)))


def scanner(draw):
    """One after the other from a ring of pictures."""
    ring = [torch.rand(BATCH, 3, 2 * SIDE, 2 * SIDE, generator=draw) for _ in range(8)]
    while True:
        yield from ring


def main():
    torch.set_num_threads(1)
    torch.manual_seed(14)
    grader = Grader().eval()
    tally = torch.zeros(GRADES, dtype=torch.long)
    with torch.inference_mode(), watch.loop():
        for pictures in watch.limited(scanner(torch.Generator().manual_seed(2)), 6.2):
            tally += grader(pictures).argmax(1).bincount(minlength=GRADES)
            watch.step()
    print("grades", tally.tolist())
    watch.tell()


main()
