"""Learns from insurance claims in private: gradients of single claims with torch.func, clipped and hidden in noise.

Planted: the noise must be unpredictable, so each number comes from the system's random source, in a Python loop.
Truth: time of making the noise, of the loop.
"""
import random

import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.profiler import record_function

from stopwatch import Stopwatch

FIELDS, BATCH, LIMIT, NOISE, RATE = 64, 384, 1.0, 0.8, 0.05


class Claims(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(FIELDS, 128), nn.Linear(128, 10)

    def forward(self, fields):
        return self.out(torch.tanh(self.hidden(fields)))


class SecureNoise:
    """Normal numbers that nobody can foretell from earlier ones (Mironov, 2012, says why this matters)."""

    def __init__(self):
        self.source = random.SystemRandom()

    def like(self, tensor):
        numbers = [self.source.gauss(0.0, 1.0) for _ in range(tensor.numel())]
        return torch.tensor(numbers).view_as(tensor)


def clipped_sum(gradients):
    """Each claim's gradient, over all tensors, is at most LIMIT long."""
    squares = sum(each.flatten(1).square().sum(1) for each in gradients.values())
    factors = (LIMIT / (squares.sqrt() + 1e-6)).clamp(max=1.0)
    return {name: torch.einsum("n,n...->...", factors, each) for name, each in gradients.items()}


def main():
    torch.manual_seed(28)
    watch, noise = Stopwatch(), SecureNoise()
    model = Claims()
    weights = {name: value.detach().clone() for name, value in model.named_parameters()}

    def loss_of_one(weights, fields, kind):
        scores = functional_call(model, weights, (fields[None],))
        return nn.functional.cross_entropy(scores, kind[None])

    gradients_of_each = vmap(grad(loss_of_one), in_dims=(None, 0, 0))
    claims = torch.randn(4000, FIELDS)
    kinds = (claims[:, :10].argmax(1) + torch.randint(0, 2, (4000,))) % 10
    rounds = 0
    with watch.loop():
        while watch.seconds() < 6:
            chosen = torch.randint(0, len(claims), (BATCH,))
            with record_function("gradients of claims"):
                gradients = gradients_of_each(weights, claims[chosen], kinds[chosen])
            with record_function("clip"):
                total = clipped_sum(gradients)
            with watch.planted(), record_function("noise"):
                hidden = {name: value + NOISE * LIMIT * noise.like(value) for name, value in total.items()}
            with record_function("update"):
                for name, value in hidden.items():
                    weights[name] -= RATE / BATCH * value
            rounds += 1
            watch.step()
    length = sum(each.square().sum() for each in weights.values()).sqrt().item()
    print(f"{rounds} rounds; the weights are {length:.2f} long")
    watch.tell()


if __name__ == "__main__":
    main()
