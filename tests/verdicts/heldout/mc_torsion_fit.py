"""Fits the energy of a molecule over its torsions with functional training: torch.func gives the gradients of energies
(forces) and those of the weights. The records of all conformers stay in memory as objects.

Planted: gc.collect() after each step, "against the cycles of closures", looks through all these objects.
Truth: time of these calls, of the loop.
"""
import gc
import random

import torch
from torch import nn
from torch.func import functional_call, grad, grad_and_value, vmap

from stopwatch import Stopwatch

TORSIONS, BATCH, CONFORMERS = 24, 1280, 6_000


class Conformer:
    def __init__(self, chance):
        self.angles = [chance.uniform(-3.14, 3.14) for _ in range(TORSIONS)]
        self.energy = chance.random()
        self.source = ["scan", chance.randrange(9)]


class Surface(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * TORSIONS, 320), nn.Tanh(), nn.Linear(320, 320), nn.Tanh(), nn.Linear(320, 1))

    def forward(self, angles):
        return self.net(torch.cat([angles.sin(), angles.cos()], dim=-1)).squeeze(-1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    chance, watch = random.Random(3), Stopwatch()
    records = [Conformer(chance) for _ in range(CONFORMERS)]
    angles = torch.tensor([record.angles for record in records[:4 * BATCH]]).split(BATCH)
    energies = torch.tensor([record.energy for record in records[:4 * BATCH]]).split(BATCH)
    surface = Surface()
    weights = {name: p.detach().clone() for name, p in surface.named_parameters()}
    speed = {name: torch.zeros_like(p) for name, p in weights.items()}

    def energy(weights, one):
        return functional_call(surface, weights, (one,))

    def loss(weights, angles, energies):
        said = vmap(energy, in_dims=(None, 0))(weights, angles)
        forces = vmap(grad(energy, argnums=1), in_dims=(None, 0))(weights, angles)
        return (said - energies).pow(2).mean() + 1e-3 * forces.pow(2).mean()

    step = grad_and_value(loss)
    with watch.loop():
        for i in watch.limited(range(10_000), 6):
            gradients, value = step(weights, angles[i % 4], energies[i % 4])
            for name in weights:
                speed[name] = 0.9 * speed[name] + gradients[name]
                weights[name] = weights[name] - 1e-3 * speed[name]
            with watch.planted():
                gc.collect()
            watch.step()
    watch.tell(loss=round(value.item(), 4), records=len(records))


if __name__ == "__main__":
    main()
