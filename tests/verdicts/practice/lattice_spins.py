"""A variational wave function for a lattice of spins.

Planted: the energy is summed row by row and column by column, with some hundred operators on vectors of 24 elements.
Truth: time of the energy's forward part, as a share of the loop; its backward part comes besides.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def energy(spins):
    total = spins.new_zeros(())
    for row in range(24):
        total = total - (spins[row] * spins[(row + 1) % 24]).sum()
        total = total - (spins[:, row] * spins[:, (row + 1) % 24]).sum()
    return total / 1152


def main():
    torch.manual_seed(71)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(64, 400), nn.Tanh(), nn.Linear(400, 400), nn.Tanh(), nn.Linear(400, 576), nn.Tanh())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    fields, watch = torch.randn(48, 64), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            spins = model(fields).mean(0).view(24, 24)
            with watch.planted():
                loss = energy(spins)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"energy {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
