"""Learns what the air of a cheese cellar usually is like: a variational autoencoder over windows of sensors.

Clean: batches of one size lie in memory, the step is forward, backward and a fused Adam.
Truth: 0.
"""
import torch
from torch import nn
from torch.nn import functional as F

from stopwatch import Stopwatch


class Cellar(nn.Module):
    def __init__(self, window=48, sensors=10, wide=640, code=24):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(window * sensors, wide), nn.Tanh(), nn.Linear(wide, wide), nn.Tanh())
        self.middle, self.spread = nn.Linear(wide, code), nn.Linear(wide, code)
        self.decoder = nn.Sequential(nn.Linear(code, wide), nn.Tanh(), nn.Linear(wide, wide), nn.Tanh(), nn.Linear(wide, window * sensors))

    def forward(self, air):
        seen = self.encoder(air)
        middle, spread = self.middle(seen), self.spread(seen).clamp(-5, 2)
        code = middle + torch.randn_like(middle) * spread.exp()
        near = 0.5 * (middle.square() + (2 * spread).exp() - 2 * spread - 1).sum(1).mean()
        return F.mse_loss(self.decoder(code), air) + 1e-3 * near


def main():
    torch.set_num_threads(2)
    torch.manual_seed(8)
    air = torch.randn(24, 96, 480)
    model, watch = Cellar(), Stopwatch()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    for number in range(3):
        model(air[number]).backward()
    with watch.loop():
        for number in watch.limited(range(100_000), 6):
            optimizer.zero_grad()
            loss = model(air[number % len(air)])
            loss.backward()
            optimizer.step()
            watch.step()
    watch.tell(0, loss=round(loss.item(), 3))


if __name__ == "__main__":
    main()
