"""Fits a network with an optimizer of its own, which turns each gradient by a preconditioner.

Planted: the optimizer decomposes its matrices in every step.
Truth: time of the optimizer's step, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Preconditioned(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.dim() < 2:
                    weight -= group["lr"] * weight.grad
                    continue
                state = self.state[weight]
                second = weight.grad @ weight.grad.T
                state["left"] = second if "left" not in state else state["left"].lerp_(second, 0.1)
                values, directions = torch.linalg.eigh(state["left"] + 1e-4 * torch.eye(len(second)))
                weight -= group["lr"] * (directions * values.clamp(min=1e-6).pow(-0.25)) @ (directions.T @ weight.grad)


def main():
    torch.manual_seed(120)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(400, 160), nn.Tanh(), nn.Linear(160, 160), nn.Tanh(), nn.Linear(160, 10))
    optimizer = Preconditioned(model.parameters(), 1e-3)
    digits, watch = torch.rand(9000, 400), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.2 and len(watch.marks) < 400:
            batch = digits[torch.randint(9000, (500,))]
            loss = nn.functional.cross_entropy(model(batch), torch.randint(10, (500,)))
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
