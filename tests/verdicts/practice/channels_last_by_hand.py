"""Denoises spectrograms with blocks ported from a framework that keeps channels last.

Planted: each block permutes its input to channels last, makes it contiguous, normalises, and permutes back.
Truth: time of the permutations' copies in the forward pass, as a share of the loop; the backward pass copies again, and
is not counted.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

watch = Stopwatch()


def to_channels_last(image):
    with watch.planted():
        return image.permute(0, 2, 3, 1).contiguous()


def to_channels_first(image):
    with watch.planted():
        return image.permute(0, 3, 1, 2).contiguous()


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.mix = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
        self.scale = nn.Parameter(torch.ones(channels))
        self.shift = nn.Parameter(torch.zeros(channels))

    def forward(self, image):
        rows = to_channels_last(self.mix(image))
        rows = rows * self.scale
        image = to_channels_first(rows)
        rows = to_channels_last(torch.relu(image))
        return to_channels_first(rows + self.shift)


def main():
    torch.manual_seed(19)
    model = nn.Sequential(nn.Conv2d(1, 32, 1), *(Block(32) for _ in range(3)), nn.Conv2d(32, 1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    clean = torch.rand(4, 1, 96, 96)
    with watch.loop():
        while watch.seconds() < 9:
            noisy = clean + 0.1 * torch.randn_like(clean)
            loss = nn.functional.mse_loss(model(noisy), clean)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
