"""Learned compression of map tiles: an autoencoder with noise for rounding and a hyperprior for the rate.

Planted: nothing.
Truth: time of making the batch, of the loop.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

from stopwatch import Stopwatch

TILE, WIDE, LATENT, BATCH, LAMBDA = 64, 32, 24, 12, 0.02


class Codec(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, WIDE, 5, 2, 2), nn.LeakyReLU(0.1), nn.Conv2d(WIDE, WIDE, 5, 2, 2), nn.LeakyReLU(0.1), nn.Conv2d(WIDE, LATENT, 3, 1, 1))
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(LATENT, WIDE, 4, 2, 1), nn.LeakyReLU(0.1), nn.ConvTranspose2d(WIDE, WIDE, 4, 2, 1), nn.LeakyReLU(0.1),
            nn.Conv2d(WIDE, 3, 3, 1, 1))
        self.side = nn.Sequential(nn.Conv2d(LATENT, 16, 3, 2, 1), nn.LeakyReLU(0.1), nn.Conv2d(16, 8, 3, 1, 1))
        self.scales = nn.Sequential(nn.ConvTranspose2d(8, 16, 4, 2, 1), nn.LeakyReLU(0.1), nn.Conv2d(16, LATENT, 3, 1, 1))

    def forward(self, tiles):
        latent = self.encoder(tiles)
        noisy = latent + torch.rand_like(latent) - 0.5
        scale = F.softplus(self.scales(self.side(latent))) + 0.05
        within = 0.5 * (torch.erf((noisy + 0.5) / (scale * math.sqrt(2))) - torch.erf((noisy - 0.5) / (scale * math.sqrt(2))))
        bits = -within.clamp_min(1e-6).log2().sum() / tiles[:, 0].numel()
        return self.decoder(noisy), bits


def make_tiles(count):
    base = torch.rand(count, 3, TILE // 8, TILE // 8)
    return F.interpolate(base, size=(TILE, TILE), mode="bilinear") + 0.02 * torch.randn(count, 3, TILE, TILE)


def main():
    torch.manual_seed(64)
    tiles = make_tiles(400)
    codec, watch = Codec(), Stopwatch()
    optimizer = torch.optim.Adam(codec.parameters(), lr=5e-4)
    with watch.loop():
        for _ in watch.limited(range(100000), 6):
            with watch.planted():
                batch = tiles[torch.randint(0, len(tiles), (BATCH,))]
            optimizer.zero_grad()
            again, bits = codec(batch)
            loss = 100 * F.mse_loss(again, batch) + LAMBDA * bits
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}, {bits.item():.2f} bits a pixel")
    watch.tell()


if __name__ == "__main__":
    main()
