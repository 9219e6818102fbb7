"""Cuts nebulae out of plates: a small U-Net with skip connections, trained on crops that are all in memory.

Clean: whole batches by slicing, a fused Adam, one thread, the same shapes in each step.
Truth: 0.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

SIDE, PLATES, BATCH = 64, 160, 4
watch = Stopwatch()


def pair(before, after):
    return nn.Sequential(nn.Conv2d(before, after, 3, padding=1), nn.GELU(), nn.Conv2d(after, after, 3, padding=1), nn.GELU())


class UNet(nn.Module):
    def __init__(self, base=16):
        super().__init__()
        self.down = nn.ModuleList([pair(1, base), pair(base, 2 * base)])
        self.bottom = pair(2 * base, 4 * base)
        self.raise_ = nn.ModuleList([nn.ConvTranspose2d(4 * base, 2 * base, 2, 2), nn.ConvTranspose2d(2 * base, base, 2, 2)])
        self.up = nn.ModuleList([pair(4 * base, 2 * base), pair(2 * base, base)])
        self.mask = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        kept = []
        for down in self.down:
            kept.append(down(x))
            x = nn.functional.max_pool2d(kept[-1], 2)
        x = self.bottom(x)
        for raise_, up in zip(self.raise_, self.up):
            x = up(torch.cat([raise_(x), kept.pop()], 1))
        return self.mask(x)


def plates(draw):
    axis = torch.linspace(-1, 1, SIDE)
    centre = torch.rand(PLATES, 2, 1, 1, generator=draw) - 0.5
    cloud = (-6 * ((axis[None, :, None] - centre[:, 0]) ** 2 + (axis - centre[:, 1]) ** 2)).exp()
    stars = (torch.rand(PLATES, SIDE, SIDE, generator=draw) > 0.99).float()
    return (cloud + stars + 0.2 * torch.randn(PLATES, SIDE, SIDE, generator=draw))[:, None], (cloud > 0.4).float()[:, None]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(2)
    net = UNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)
    light, mask = plates(torch.Generator().manual_seed(9))
    at = 0
    with watch.loop():
        while watch.seconds() < 6.2:
            loss = nn.functional.binary_cross_entropy_with_logits(net(light[at:at + BATCH]), mask[at:at + BATCH])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            at = (at + BATCH) % PLATES
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
