"""Routes of homing pigeons: a variational autoencoder over maps of where they flew.

Clean: each step decodes and encodes the same number of maps of one size, with fused Adam.
Truth: nothing is planted; the clock is around the choice of the batch.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Routes(nn.Module):
    def __init__(self, width=32, code=16):
        super().__init__()
        self.encode = nn.Sequential(
            nn.Conv2d(1, width, 4, 2, 1), nn.LeakyReLU(0.1), nn.Conv2d(width, 2 * width, 4, 2, 1), nn.LeakyReLU(0.1), nn.Flatten(),
            nn.Linear(2 * width * 100, 2 * code))
        self.start = nn.Linear(code, 2 * width * 100)
        self.decode = nn.Sequential(
            nn.Unflatten(1, (2 * width, 10, 10)), nn.LeakyReLU(0.1), nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.LeakyReLU(0.1),
            nn.ConvTranspose2d(width, 1, 4, 2, 1))

    def forward(self, maps):
        mean, spread = self.encode(maps).chunk(2, 1)
        code = mean + torch.randn_like(mean) * (0.5 * spread).exp()
        flown = self.decode(self.start(code))
        wrong = nn.functional.binary_cross_entropy_with_logits(flown, maps, reduction="sum")
        return (wrong + 0.5 * (mean.square() + spread.exp() - spread - 1).sum()) / len(maps)


def main():
    torch.manual_seed(12)
    watch = Stopwatch()
    maps = (torch.rand(512, 1, 40, 40) > 0.85).float().split(16)
    model = Routes()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-4, fused=True)
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                batch = maps[len(watch.marks) % len(maps)]
            optimizer.zero_grad()
            model(batch).backward()
            optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
