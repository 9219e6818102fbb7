"""Mixes experts for the prices of houses; each expert has its own small layers.

Planted: NAdam updates some five hundred small tensors one after another.
Truth: time of the optimizer's step, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Mixture(nn.Module):
    def __init__(self, experts=60):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(80, 800), nn.ReLU(), nn.Linear(800, 60))
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(60, 24), nn.LayerNorm(24), nn.Tanh(), nn.Linear(24, 16), nn.LayerNorm(16)) for _ in range(experts))
        self.head = nn.Linear(16, 1)

    def forward(self, houses, chosen):
        trunk = self.trunk(houses)
        return self.head(sum(self.experts[number](trunk) for number in chosen))[:, 0]


def main():
    torch.manual_seed(119)
    torch.set_num_threads(1)
    model = Mixture()
    optimizer = torch.optim.NAdam(model.parameters(), lr=1e-3, foreach=False)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2:
            chosen = torch.randperm(60)[:6].tolist()
            loss = nn.functional.mse_loss(model(torch.randn(1024, 80), chosen), torch.randn(1024))
            optimizer.zero_grad(set_to_none=False)
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
