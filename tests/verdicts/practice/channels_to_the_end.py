"""Segments maps; each block normalises its channels with nn.LayerNorm, which wants them last.

Planted: each block copies its activations into the other layout and back again.
Truth: time of these copies in forward, and as long again for those of backward, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

watch = Stopwatch()


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.LayerNorm(channels)
        self.mix = nn.Conv2d(channels, channels, 1, groups=4)

    def forward(self, maps):
        with watch.planted():
            last = maps.permute(0, 2, 3, 1).contiguous()
        last = self.norm(last)
        with watch.planted():
            maps = last.permute(0, 3, 1, 2).contiguous()
        return torch.relu(self.mix(maps))


def main():
    torch.manual_seed(7)
    model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), *[Block(64) for _ in range(5)], nn.Conv2d(64, 5, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    maps, kinds = torch.rand(3, 3, 72, 72), torch.randint(0, 5, (3, 72, 72))
    with watch.loop():
        while watch.seconds() < 6:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(maps), kinds).backward()
            optimizer.step()
            watch.step()
    watch.tell(share=2 * watch.planted_s / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
