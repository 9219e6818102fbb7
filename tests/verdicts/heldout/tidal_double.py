"""Fits a network to the equation of tides in a bay, with the residual as its loss.

Planted: after 2.5 seconds the fit is "polished", for which everything becomes double, and each step takes twice as long.
Truth: what the steps after that took longer than the median of those before, of the loop.
"""
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch

POINTS, WIDTH = 512, 192


class Bay(nn.Module):
    """Height and flow of the water at a place and a time."""

    def __init__(self):
        super().__init__()
        sizes = [3, WIDTH, WIDTH, WIDTH, WIDTH]
        self.layers = nn.ModuleList(nn.Linear(one, two) for one, two in zip(sizes, sizes[1:]))
        self.out = nn.Linear(WIDTH, 2)

    def forward(self, where):
        for layer in self.layers:
            where = torch.tanh(layer(where))
        return self.out(where)


def residual(model, where):
    where = where.requires_grad_()
    height, flow = model(where).unbind(1)
    slopes = torch.autograd.grad(height.sum(), where, create_graph=True)[0]
    currents = torch.autograd.grad(flow.sum(), where, create_graph=True)[0]
    mass = slopes[:, 2] + currents[:, 0]
    force = currents[:, 2] + slopes[:, 0] + 0.1 * flow * flow.abs()
    return mass.square().mean() + force.square().mean()


def shore(model, where):
    edge = where.detach().clone()
    edge[:, 0] = 1.0
    return (model(edge)[:, 0] - torch.sin(6.28 * edge[:, 2])).square().mean()


def main():
    torch.manual_seed(8)
    watch = Stopwatch()
    model = Bay()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    precision, changed = torch.float32, None
    with watch.loop():
        while watch.seconds() < 7:
            if changed is None and watch.seconds() > 2.5:
                precision, changed = torch.float64, len(watch.marks)
                model.to(precision)
                optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
            where = torch.rand(POINTS, 3, dtype=precision)
            loss = residual(model, where) + 10 * shore(model, where)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"residual {loss.item():.5f}")
    times = watch.step_times()
    usual = statistics.median(times[:changed])
    longer = sum(times[changed:]) - usual * len(times[changed:])
    watch.tell(longer / sum(times), changed_at=changed)


if __name__ == "__main__":
    main()
