"""A mixture of small experts that is trained by an optimizer of its author's own.

Planted: the optimizer goes through hundreds of small parameters with a dozen operators for each.
Truth: time of the optimizer, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Careful(torch.optim.Optimizer):
    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for each in group["params"]:
                state = self.state[each]
                if not state:
                    state["mean"], state["square"] = torch.zeros_like(each), torch.zeros_like(each)
                state["mean"] = 0.9 * state["mean"] + 0.1 * each.grad
                state["square"] = 0.99 * state["square"] + 0.01 * each.grad * each.grad
                change = state["mean"] / (torch.sqrt(state["square"]) + 1e-8)
                trust = each.norm() / (change.norm() + 1e-8)
                each.data = each.data - group["lr"] * torch.clamp(trust, 0, 1) * torch.sign(change)


def main():
    torch.manual_seed(41)
    torch.set_num_threads(1)
    experts = nn.ModuleList([nn.Sequential(nn.Linear(40, 48), nn.ReLU(), nn.Linear(48, 8)) for _ in range(48)])
    optimizer = Careful(experts.parameters(), lr=1e-4)
    clues, watch = torch.rand(1500, 40), Stopwatch()
    with watch.loop():
        while watch.seconds() < 5:
            loss = torch.stack([expert(clues).pow(2).mean() for expert in experts]).sum()
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
