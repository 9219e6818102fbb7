"""Paints grains of pollen: a variational autoencoder with convolutions, trained on pictures that lie in memory.

Clean: nothing is planted; whole batches of one size, one thread, a fused optimizer.
Truth: nothing comes near a cause; the share is that of taking a batch from memory.
"""
import torch
from torch import nn
from torch.nn import functional as F

from stopwatch import Stopwatch

SIDE, GRAINS, BATCH, INNER = 32, 768, 32, 24
watch = Stopwatch()


class Painter(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.ModuleList([nn.Conv2d(1, 24, 3, 2, 1), nn.Conv2d(24, 48, 3, 2, 1), nn.Conv2d(48, 96, 3, 2, 1)])
        self.mean, self.spread = nn.Linear(96 * 16, INNER), nn.Linear(96 * 16, INNER)
        self.start = nn.Linear(INNER, 96 * 16)
        self.paint = nn.ModuleList([nn.ConvTranspose2d(96, 48, 4, 2, 1), nn.ConvTranspose2d(48, 24, 4, 2, 1), nn.ConvTranspose2d(24, 1, 4, 2, 1)])

    def forward(self, grains):
        x = grains
        for layer in self.look:
            x = F.silu(layer(x))
        x = x.flatten(1)
        mean, spread = self.mean(x), self.spread(x).clamp(-6, 3)
        x = self.start(mean + (0.5 * spread).exp() * torch.randn_like(mean)).view(-1, 96, 4, 4)
        for layer in self.paint[:-1]:
            x = F.silu(layer(x))
        return self.paint[-1](x), mean, spread


def grains_in_memory():
    axis = torch.linspace(-1, 1, SIDE)
    far = (axis[:, None] ** 2 + axis ** 2).sqrt()
    angle = torch.atan2(axis[:, None].expand(SIDE, SIDE), axis.expand(SIDE, SIDE))
    spines = torch.randint(3, 12, (GRAINS, 1, 1))
    edge = 0.5 + 0.2 * torch.rand(GRAINS, 1, 1) + 0.1 * (spines * angle).cos()
    return ((edge - far) * 8).sigmoid().unsqueeze(1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(15)
    grains, model = grains_in_memory(), Painter()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4, fused=True)
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                at = len(watch.marks) * BATCH % GRAINS
                batch = grains[at:at + BATCH]
            painted, mean, spread = model(batch)
            differs = F.binary_cross_entropy_with_logits(painted, batch, reduction="sum")
            surprise = 0.5 * (mean.square() + spread.exp() - spread - 1).sum()
            loss = (differs + surprise) / BATCH
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.2f}")
    watch.tell()


main()
