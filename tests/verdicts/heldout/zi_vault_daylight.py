"""How much daylight reaches a point below a vault: a network over encoded points and directions, and light gathered along rays of equal length.

Clean: nothing is planted; each step gathers as many rays with as many points.
Truth: nothing comes near a cause, 0.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

RAYS, POINTS, WAVES, WIDTH = 256, 24, 6, 96


class Vault(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("waves", 2.0 ** torch.arange(WAVES))
        self.solid = nn.Sequential(nn.Linear(6 * WAVES, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH + 1))
        self.light = nn.Sequential(nn.Linear(WIDTH + 3, WIDTH), nn.SiLU(), nn.Linear(WIDTH, 1))

    def forward(self, start, towards, far):
        at = start[:, None] + towards[:, None] * far
        waves = (at[..., None] * self.waves).flatten(2)
        made = self.solid(torch.cat([waves.sin(), waves.cos()], 2))
        stopped = nn.functional.softplus(made[..., 0]) / POINTS
        passing = torch.exp(-stopped.cumsum(1))
        light = self.light(torch.cat([made[..., 1:], towards[:, None].expand(-1, POINTS, -1)], 2)).squeeze(2).sigmoid()
        return ((1 - torch.exp(-stopped)) * passing * light).sum(1)


def main():
    torch.manual_seed(90)
    torch.set_num_threads(1)
    watch, vault = Stopwatch(), Vault()
    optimizer = torch.optim.Adam(vault.parameters(), lr=5e-4, fused=True)
    starts = torch.rand(10, RAYS, 3)
    towards = nn.functional.normalize(torch.randn(10, RAYS, 3), dim=2)
    far = torch.linspace(0, 2, POINTS) + torch.rand(10, RAYS, 1) / POINTS
    measured = (towards[..., 2].clamp(0) * (1 - starts[..., 0] / 2))[..., None]
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            at = number % 10
            light = vault(starts[at], towards[at], far[at][..., None])
            loss = nn.functional.mse_loss(light, measured[at, :, 0])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.5f}")
    watch.tell()


main()
