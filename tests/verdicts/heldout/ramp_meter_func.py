"""Learns when to let cars onto a motorway, in the functional style: parameters are a dictionary, torch.func differentiates.

Planted: Adam is written by hand and updates each of 130 small parameters with a dozen operators of its own.
Truth: time of the updates, of the loop.
"""
import torch
from torch import nn
from torch.func import functional_call, grad_and_value

from stopwatch import Stopwatch

SENSORS, WIDTH, BLOCKS, CARS = 24, 96, 21, 384


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class RampMeter(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Linear(SENSORS, WIDTH), nn.Linear(WIDTH, 3)
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


def adam_init(params):
    return {name: (torch.zeros_like(p), torch.zeros_like(p)) for name, p in params.items()}


def adam(params, grads, state, t, lr=3e-4, b1=0.9, b2=0.999, decay=0.01):
    new_params, new_state = {}, {}
    for name, p in params.items():
        g, (m, v) = grads[name], state[name]
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        step = (m / (1 - b1 ** t)) / ((v / (1 - b2 ** t)).sqrt() + 1e-8)
        trust = torch.where(step.norm() > 0, (p.norm() + 1) / (step.norm() + 1), torch.ones(()))
        new_params[name] = p - lr * trust.clamp(max=1.0) * (step + decay * p)
        new_state[name] = (m, v)
    return new_params, new_state


def main():
    torch.manual_seed(1)
    model = RampMeter()
    params = {name: p.detach().clone() for name, p in model.named_parameters()}
    state = adam_init(params)
    flow = torch.randn(16 * CARS, SENSORS)
    wish = (flow[:, :8].sum(1) > 0).long() + (flow[:, 8:].sum(1) > 1).long()

    def loss_of(params, x, y):
        return nn.functional.cross_entropy(functional_call(model, params, (x,)), y)

    differentiate = grad_and_value(loss_of)
    differentiate(params, flow[:CARS], wish[:CARS])  # what torch.func imports when first used
    watch, t = Stopwatch(), 0
    with watch.loop():
        while watch.seconds() < 7:
            at = t % 16 * CARS
            grads, loss = differentiate(params, flow[at:at + CARS], wish[at:at + CARS])
            t += 1
            with watch.planted():
                params, state = adam(params, grads, state, t)
            watch.step()
    print(f"{t} steps, loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
