"""Sorts postcards with a preconditioned optimizer.

Planted: the optimizer computes the eigenvectors of its statistics in each step, though they hardly change.
Truth: time of optimizer.step(), as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Preconditioned(torch.optim.Optimizer):
    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.ndim < 2:
                    weight.add_(weight.grad, alpha=-group["lr"])
                    continue
                gradient, state = weight.grad, self.state[weight]
                if not state:
                    state["left"] = torch.eye(gradient.shape[0])
                state["left"].mul_(0.95).addmm_(gradient, gradient.T)
                values, vectors = torch.linalg.eigh(state["left"])
                root = vectors * values.clamp_min(1e-4).rsqrt() @ vectors.T
                weight.add_(root @ gradient, alpha=-group["lr"])


def main():
    torch.manual_seed(5)
    watch = Stopwatch()
    model = nn.Sequential(nn.Linear(400, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 40))
    optimizer = Preconditioned(model.parameters(), lr=0.01)
    postcards, kinds = torch.rand(1000, 400), torch.arange(1000) % 40
    with watch.loop():
        while watch.seconds() < 6:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(postcards), kinds).backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
