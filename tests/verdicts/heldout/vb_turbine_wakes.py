"""Corrects the power that a wind farm promises: each of 90 turbines has a small network of its own, because of the wakes
of its neighbours, and one loss over the farm trains them together.

Planted: the optimizer is NAdam without foreach, so 540 small tensors are updated one after the other.
Truth: time of optimizer.step(), of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

TURBINES, INPUTS = 90, 48


def turbine():
    return nn.Sequential(nn.Linear(INPUTS, 96), nn.Tanh(), nn.Linear(96, 96), nn.Tanh(), nn.Linear(96, 1))


class Farm(nn.Module):
    def __init__(self):
        super().__init__()
        self.turbines = nn.ModuleList(turbine() for _ in range(TURBINES))

    def forward(self, weather):
        return torch.cat([one(weather) for one in self.turbines], 1)


def hours(count, generator):
    weather = torch.randn(count, INPUTS, generator=generator)
    angle = torch.linspace(0, 6, TURBINES)
    power = torch.sigmoid(weather[:, :1] + 0.4 * torch.cos(weather[:, 1:2] + angle))
    return weather, power


def main():
    torch.manual_seed(11)
    farm, watch = Farm(), Stopwatch()
    optimizer = torch.optim.NAdam(farm.parameters(), lr=1e-3, weight_decay=1e-5, foreach=False)
    weather, power = hours(16384, torch.Generator().manual_seed(2))
    order = torch.randperm(len(weather)).split(256)
    with watch.loop():
        for rows in watch.limited((rows for _ in range(1000) for rows in order), 6.5):
            loss = (farm(weather[rows]) - power[rows]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
