"""Forecasts tides with a perceptron and an optimizer of its own, in the manner of Shampoo.

Planted: the roots of the preconditioners are computed anew in each eighth step, by eigenvalues of all of them at once.
Truth: time of these roots, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

HARBOURS, HOURS, WIDTH = 24, 16, 384


class Shampoo(torch.optim.Optimizer):
    def __init__(self, parameters, watch, lr=0.01, every=8, epsilon=1e-4):
        super().__init__(parameters, {"lr": lr})
        self.watch, self.every, self.epsilon, self.count = watch, every, epsilon, 0

    def root(self, matrix):
        values, vectors = torch.linalg.eigh(matrix)
        return vectors * values.clamp_min(self.epsilon) ** -0.25 @ vectors.T

    @torch.no_grad()
    def step(self, closure=None):
        self.count += 1
        matrices = [p for group in self.param_groups for p in group["params"] if p.ndim == 2]
        for p in matrices:
            state = self.state[p]
            if not state:
                rows, columns = p.shape
                state["left"], state["right"] = torch.eye(rows) * self.epsilon, torch.eye(columns) * self.epsilon
                state["left_root"], state["right_root"] = torch.eye(rows), torch.eye(columns)
            state["left"].lerp_(p.grad @ p.grad.T, 0.05)
            state["right"].lerp_(p.grad.T @ p.grad, 0.05)
        if self.count % self.every == 0:
            with self.watch.planted():
                for p in matrices:
                    state = self.state[p]
                    state["left_root"], state["right_root"] = self.root(state["left"]), self.root(state["right"])
        for group in self.param_groups:
            for p in group["params"]:
                change = p.grad
                if p.ndim == 2:
                    change = self.state[p]["left_root"] @ p.grad @ self.state[p]["right_root"]
                p.sub_(change, alpha=group["lr"])


def main():
    torch.manual_seed(12)
    watch = Stopwatch()
    model = nn.Sequential(nn.Linear(HARBOURS * HOURS, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, HARBOURS))
    optimizer = Shampoo(model.parameters(), watch)
    time = torch.arange(20000.0)
    periods = 10 + 15 * torch.rand(HARBOURS, 3)
    tide = sum(torch.sin(time[:, None] / periods[:, k] * 6.283) for k in range(3)) + 0.1 * torch.randn(20000, HARBOURS)
    loss = torch.zeros(())
    with watch.loop():
        while watch.seconds() < 6.5:
            begin = torch.randint(0, 20000 - HOURS, (512,))
            past = tide[begin[:, None] + torch.arange(HOURS)].flatten(1)
            loss = nn.functional.mse_loss(model(past), tide[begin + HOURS])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
