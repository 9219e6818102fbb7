"""Fits a neural differential equation to a spiral, with Runge and Kutta's method written out.

Planted: hundreds of operators on 20 points each; nearly all of a step is their dispatch.
Truth: time of the step without one whose operators do the same sums on all points at once, of the step.
"""
import time

import torch
from torch import nn

from stopwatch import Stopwatch


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, state):
        return self.net(state ** 3)


def integrate(field, state, steps, width):
    path = [state]
    for _ in range(steps):
        one = field(state)
        two = field(state + width / 2 * one)
        three = field(state + width / 2 * two)
        four = field(state + width * three)
        state = state + width / 6 * (one + 2 * two + 2 * three + four)
        path.append(state)
    return torch.stack(path)


def arithmetic_s(field, points):
    """Seconds of the sums themselves, of all evaluations of a step in one batch."""
    many = torch.randn(points, 2)
    field(many).sum().backward()
    began = time.perf_counter()
    field(many).sum().backward()
    return time.perf_counter() - began


def main():
    torch.manual_seed(55)
    field = Field()
    optimizer = torch.optim.Adam(field.parameters(), lr=1e-3)
    began = torch.rand(20, 2) * 2 - 1
    target = torch.randn(21, 20, 2)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            loss = (integrate(field, began, 20, 0.05) - target).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell(1 - arithmetic_s(field, 20 * 80) * len(watch.marks) / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
