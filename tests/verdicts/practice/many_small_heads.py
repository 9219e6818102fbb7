"""Predicts 80 sensors of a plant, each with a small head of its own on a shared body.

Planted: Adam updates the heads' 320 small tensors one after another.
Truth: time of the optimizer's step, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Plant(nn.Module):
    def __init__(self, sensors=80):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(160, 512), nn.ReLU(), nn.Linear(512, 96), nn.ReLU())
        self.heads = nn.ModuleList(nn.Sequential(nn.Linear(96, 12), nn.Tanh(), nn.Linear(12, 1)) for _ in range(sensors))

    def forward(self, readings):
        shared = self.body(readings)
        return torch.cat([head(shared) for head in self.heads], 1)


def main():
    torch.manual_seed(57)
    model = Plant()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4, foreach=False)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            readings = torch.randn(1024, 160)
            loss = nn.functional.mse_loss(model(readings), readings[:, :80])
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
