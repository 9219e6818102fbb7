"""Classifies textures with blocks that normalise channels last, as ConvNeXt's do.

Planted: each block copies its activations to channels last for the normalisation, and back.
Truth: time of the copies, and as much for those of the backward pass, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

watch = Stopwatch()


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Conv2d(width, width, 3, padding=1, groups=width)
        self.norm = nn.LayerNorm(width)
        self.grow, self.shrink = nn.Conv2d(width, 2 * width, 1), nn.Conv2d(2 * width, width, 1)

    def forward(self, activations):
        mixed = self.mix(activations)
        with watch.planted():
            last = mixed.permute(0, 2, 3, 1).contiguous()
        normed = self.norm(last)
        with watch.planted():
            first = normed.permute(0, 3, 1, 2).contiguous()
        return activations + self.shrink(torch.relu(self.grow(first)))


def main():
    torch.manual_seed(56)
    model = nn.Sequential(nn.Conv2d(3, 32, 2, stride=2), *[Block(32) for _ in range(4)], nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 9))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    textures, kinds = torch.rand(10, 16, 3, 64, 64), torch.randint(9, (10, 16))
    with watch.loop():
        while watch.seconds() < 3:
            place = len(watch.marks) % 10
            loss = nn.functional.cross_entropy(model(textures[place]), kinds[place])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell(2 * watch.planted_s / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
