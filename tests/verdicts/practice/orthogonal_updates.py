"""Trains a network on chemical spectra with updates that an own optimizer makes orthogonal.

Planted: the optimizer multiplies matrices six times for each weight, in each step.
Truth: time of the optimizer's step, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Orthogonal(torch.optim.Optimizer):
    """Momentum whose matrices have singular values near 1, by Newton's and Schulz's iteration."""

    def __init__(self, parameters, lr, momentum=0.9):
        super().__init__(parameters, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for weight in group["params"]:
                average = self.state[weight].setdefault("average", torch.zeros_like(weight))
                average.mul_(group["momentum"]).add_(weight.grad)
                update = average / (average.norm() + 1e-7)
                for _ in range(3 if weight.ndim == 2 else 0):
                    update = 1.5 * update - 0.5 * (update @ update.T) @ update
                weight.add_(update, alpha=-group["lr"])


def main():
    torch.manual_seed(222)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(360, 320), nn.SiLU(), nn.Linear(320, 320), nn.SiLU(), nn.Linear(320, 20))
    optimizer = Orthogonal(model.parameters(), lr=0.01)
    spectra, watch = torch.randn(8000, 360), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2:
            chosen = torch.randint(8000, (512,))
            loss = nn.functional.cross_entropy(model(spectra[chosen]), chosen % 20)
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
