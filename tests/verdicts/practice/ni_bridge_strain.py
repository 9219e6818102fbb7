"""Strain gauges of a bridge: a network says how heavy the lorry was; it shall not be more sensitive than needed.

Planted: the penalty for sensitivity takes the largest singular value of each weight exactly, by a decomposition of the
whole matrix in each step.
Truth: time of the norms, forward, as a share of the loop; their gradients come on top.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


class Lorry(nn.Module):
    def __init__(self, gauges=160, width=224, depth=2):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(gauges if i == 0 else width, width) for i in range(depth + 1))
        self.tonnes = nn.Linear(width, 1)

    def forward(self, strains):
        for layer in self.layers:
            strains = nn.functional.silu(layer(strains))
        return self.tonnes(strains.mean(1)).squeeze(-1)


class Sensitivity:
    """The product of the layers' Lipschitz constants is at most what the engineer allows."""

    def __init__(self, model, watch, allowed=4.0):
        self.model, self.watch, self.allowed = model, watch, allowed

    def __call__(self):
        with self.watch.planted():
            norms = torch.stack([torch.linalg.matrix_norm(layer.weight, ord=2) for layer in self.model.layers])
        return nn.functional.relu(norms.log().sum() - torch.tensor(self.allowed).log())


def crossings(count, gauges=160, moments=48, batch=32):
    """Batches of lorries that cross the bridge."""
    weights = torch.rand(batch)
    waves = torch.sin(torch.linspace(0, 9, moments)[:, None] + torch.arange(gauges) * 0.05)
    return [(weights.roll(i)[:, None, None] * waves + 0.05 * torch.randn(batch, moments, gauges), weights.roll(i)) for i in range(count)]


def main():
    torch.manual_seed(4)
    torch.set_num_threads(1)  # the gauges' driver has the other core
    watch = Stopwatch()
    model = Lorry()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    sensitivity = Sensitivity(model, watch)
    data = crossings(20)
    with watch.loop():
        while watch.seconds() < 6:
            strains, tonnes = data[len(watch.marks) % len(data)]
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(strains), tonnes) + 0.01 * sensitivity()
            loss.backward()
            optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
