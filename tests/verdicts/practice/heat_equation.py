"""Solves the heat equation with a network whose loss differentiates the network itself.

Planted: nothing. All points lie in memory, and the operators are large.
Truth: time of choosing the points, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def slope_of(values, places):
    return torch.autograd.grad(values.sum(), places, create_graph=True)[0]


def main():
    torch.manual_seed(233)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(2, 320), nn.Tanh(), nn.Linear(320, 320), nn.Tanh(), nn.Linear(320, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    space, start, watch = torch.rand(20_000, 2), torch.rand(2000, 1), Stopwatch()
    start = torch.cat([start, torch.zeros_like(start)], 1)
    with watch.loop():
        while watch.seconds() < 3.4:
            with watch.planted():
                places = space[torch.randint(20_000, (360,))].requires_grad_()
                first = start[torch.randint(2000, (360,))]
            slopes = slope_of(model(places), places)
            bend = slope_of(slopes[:, 0], places)[:, 0]
            loss = (slopes[:, 1] - 0.1 * bend).pow(2).mean() + (model(first) - first[:, :1].sin()).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
