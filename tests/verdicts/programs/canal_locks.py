"""Predicts water levels of canals with an optimizer that its author wrote.

Planted: the update is a Python loop over 260 small tensors with a dozen operators for each.
Truth: time of the update, as a share of the loop.
"""
import math

import torch
from torch import nn

from stopwatch import Stopwatch


class Yogi(torch.optim.Optimizer):
    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for weights in group["params"]:
                state = self.state[weights]
                if not state:
                    state.update(step=0, mean=torch.zeros_like(weights), square=torch.zeros_like(weights))
                state["step"] += 1
                mean, square, power = state["mean"], state["square"], weights.grad * weights.grad
                mean.copy_(0.9 * mean + 0.1 * weights.grad)
                square.copy_(square - 0.001 * torch.sign(square - power) * power)
                size = group["lr"] * math.sqrt(1 - 0.999 ** state["step"]) / (1 - 0.9 ** state["step"])
                weights.sub_(size * mean / (square.abs().sqrt() + 1e-3))


class Canals(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates = nn.ModuleList(nn.Linear(40, 40) for _ in range(130))

    def forward(self, level):
        for gate in self.gates:
            level = level + 0.01 * torch.tanh(gate(level))
        return level


def main():
    torch.manual_seed(6)
    watch, model = Stopwatch(), Canals()
    optimizer = Yogi(model.parameters(), 1e-4)
    levels = torch.randn(16384, 40)
    with watch.loop():
        for number in range(100000):
            batch = levels[number * 512 % 16384:][:512]
            optimizer.zero_grad()
            nn.functional.mse_loss(model(batch), batch.roll(1, 1)).backward()
            with watch.planted():
                optimizer.step()
            watch.step()
            if watch.seconds() > 6:
                break
    watch.tell()


if __name__ == "__main__":
    main()
