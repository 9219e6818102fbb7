"""Predicts how far old clocks deviate in a day: a deep and narrow network as a function of its parameters.

Planted: an Adam of the author's own goes through 292 small tensors of a dictionary, with nine operators for each.
Truth: time of this Adam, of the loop.
"""
import torch
from torch import nn
from torch.func import functional_call, grad_and_value

from stopwatch import Stopwatch

READINGS, WIDTH, DEPTH, CLOCKS = 18, 48, 48, 256


class Wheel(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.turn, self.back = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return x + 0.2 * self.back(torch.tanh(self.turn(self.norm(x))))


class Clockwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.spring = nn.Linear(READINGS, WIDTH)
        self.wheels = nn.ModuleList(Wheel() for _ in range(DEPTH))
        self.hand = nn.Linear(WIDTH, 1)

    def forward(self, readings):
        x = self.spring(readings)
        for wheel in self.wheels:
            x = wheel(x)
        return self.hand(x).squeeze(1)


def adam(parameters, slopes, state, rate=1e-3, first=0.9, second=0.999):
    """New parameters and a new state, none changed in place."""
    state["step"] += 1
    new = {}
    for name, value in parameters.items():
        slope = slopes[name]
        mean = first * state["mean"][name] + (1 - first) * slope
        square = second * state["square"][name] + (1 - second) * slope * slope
        state["mean"][name], state["square"][name] = mean, square
        mean = mean / (1 - first ** state["step"])
        square = square / (1 - second ** state["step"])
        new[name] = value - rate * mean / (square.sqrt() + 1e-8)
    return new


def main():
    torch.manual_seed(17)
    works, watch = Clockwork(), Stopwatch()
    readings = torch.randn(CLOCKS * 16, READINGS)
    deviation = torch.sin(readings[:, 0] * 2) + readings[:, 1:4].prod(1) * 0.3
    parameters = {name: value.detach() for name, value in works.named_parameters()}
    state = {"step": 0, **{kind: {name: torch.zeros_like(value) for name, value in parameters.items()} for kind in ("mean", "square")}}

    def loss_of(parameters, readings, deviation):
        return nn.functional.mse_loss(functional_call(works, parameters, (readings,)), deviation)

    learn = grad_and_value(loss_of)
    learn(parameters, readings[:CLOCKS], deviation[:CLOCKS])  # the first call loads half of torch.func
    with watch.loop():
        for step in watch.limited(range(100000), 6.5):
            rows = slice(step % 16 * CLOCKS, (step % 16 + 1) * CLOCKS)
            slopes, loss = learn(parameters, readings[rows], deviation[rows])
            with watch.planted():
                parameters = adam(parameters, slopes, state)
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
