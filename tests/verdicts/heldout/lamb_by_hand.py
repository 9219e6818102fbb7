"""Predicts failures in a paper mill: each of 64 machines has a small tower of its own, and one head judges all.

Planted: LAMB as its paper writes it, with sixteen small operators for each of 260 small tensors.
Truth: time of the optimizer's step, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

MACHINES, SENSORS, BATCH = 64, 32, 384


class Lamb(torch.optim.Optimizer):
    """Large batches (You et al., 2020), with bias correction and a trust ratio for each tensor."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            first, second = group["betas"]
            for param in group["params"]:
                if param.grad is None:
                    continue
                state = self.state[param]
                if not state:
                    state["step"] = 0
                    state["mean"] = torch.zeros_like(param)
                    state["square"] = torch.zeros_like(param)
                state["step"] += 1
                mean, square = state["mean"], state["square"]
                mean.mul_(first).add_(param.grad, alpha=1 - first)
                square.mul_(second).addcmul_(param.grad, param.grad, value=1 - second)
                corrected_mean = mean / (1 - first ** state["step"])
                corrected_square = square / (1 - second ** state["step"])
                update = corrected_mean / corrected_square.sqrt().add(group["eps"])
                update = update + group["weight_decay"] * param
                weight_norm = param.norm().clamp(0, 10)
                update_norm = update.norm()
                if weight_norm == 0 or update_norm == 0:
                    trust = 1.0
                else:
                    trust = float(weight_norm / update_norm)
                param.sub_(group["lr"] * trust * update)


class Mill(nn.Module):
    def __init__(self):
        super().__init__()
        self.towers = nn.ModuleList(nn.Sequential(nn.Linear(SENSORS, 64), nn.ReLU(), nn.Linear(64, 16))
                                    for _ in range(MACHINES))
        self.head = nn.Sequential(nn.Linear(MACHINES * 16, 256), nn.ReLU(), nn.Linear(256, MACHINES))

    def forward(self, sensors):
        """`sensors`: a batch for each machine."""
        return self.head(torch.cat([tower(one) for tower, one in zip(self.towers, sensors)], 1))


def make_shift(generator):
    """Readings of one shift, and which machines fail in the next."""
    readings = torch.randn(MACHINES, BATCH, SENSORS, generator=generator)
    fails = (readings.mean(2).t() > 0.25).float()
    return list(readings), fails


def main():
    torch.manual_seed(22)
    watch = Stopwatch()
    generator = torch.Generator().manual_seed(3)
    shifts = [make_shift(generator) for _ in range(6)]
    model = Mill()
    optimizer = Lamb(model.parameters())
    criterion = nn.BCEWithLogitsLoss()
    number = 0
    with watch.loop():
        while watch.seconds() < 6:
            readings, fails = shifts[number % len(shifts)]
            loss = criterion(model(readings), fails)
            model.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            number += 1
            watch.step()
    print(f"loss {loss.item():.4f} after {number} steps")
    watch.tell()


if __name__ == "__main__":
    main()
