"""Solves how a dune wanders: a network that obeys Burgers' equation, with the derivatives of torch.func.

Clean: jvp() within jvp() on 2,048 points, a usual backward pass, all steps alike.
Truth: time of choosing points and of the optimizer, of the loop.
"""
import torch
from torch import nn
from torch.func import jvp

from stopwatch import Stopwatch

POINTS, VISCOSITY = 2048, 0.01 / torch.pi


class Dune(nn.Module):
    def __init__(self, width=96, depth=5):
        super().__init__()
        sizes = [2, *[width] * depth]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.height = nn.Linear(width, 1)

    def forward(self, place, time):
        x = torch.stack([place, time], 1)
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.height(x).squeeze(1)


def residual(dune, place, time):
    one = torch.ones_like(place)

    def slope(x):
        return jvp(lambda y: dune(y, time), (x,), (one,))

    (height, along), (_, curve) = jvp(slope, (place,), (one,))
    _, change = jvp(lambda t: dune(place, t), (time,), (one,))
    return change + height * along - VISCOSITY * curve


def main():
    torch.manual_seed(77)
    dune, watch = Dune(), Stopwatch()
    optimizer = torch.optim.Adam(dune.parameters(), lr=1e-3)
    residual(dune, torch.zeros(POINTS), torch.zeros(POINTS)).sum().backward()  # the first call loads half of torch.func
    edge = torch.linspace(-1, 1, 256)
    with watch.loop():
        for _ in watch.limited(range(100000), 6.5):
            with watch.planted():
                place, time = torch.rand(POINTS) * 2 - 1, torch.rand(POINTS)
            inside = residual(dune, place, time).square().mean()
            start = (dune(edge, torch.zeros(256)) + torch.sin(torch.pi * edge)).square().mean()
            loss = inside + start
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
