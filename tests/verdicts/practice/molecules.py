"""Predicts the energy of molecules by messages between atoms; a few molecules are proteins.

Planted: one batch in ten has ten times as many atoms and bonds.
Truth: time of the steps with large batches above the others' median, as a share of the loop.
"""
import random
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch


class Messages(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.atoms = nn.Embedding(20, width)
        self.message = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(3))
        self.energy = nn.Linear(width, 1)

    def forward(self, atoms, bonds):
        state = self.atoms(atoms)
        for layer in self.message:
            sent = torch.relu(layer(torch.cat([state[bonds[0]], state[bonds[1]]], 1)))
            state = state + torch.zeros_like(state).index_add(0, bonds[1], sent)
        return self.energy(state).mean()


def main():
    torch.manual_seed(64)
    rng = random.Random(64)
    model = Messages()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    watch, large = Stopwatch(), []
    with watch.loop():
        while watch.seconds() < 3.3:
            protein = rng.random() < 0.1
            count = rng.randrange(380, 420) * (10 if protein else 1)
            atoms, bonds = torch.randint(20, (count,)), torch.randint(count, (2, 5 * count))
            loss = (model(atoms, bonds) - 1) ** 2
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if protein:
                large.append(len(watch.marks))
            watch.step()
    times = watch.step_times()
    usual = statistics.median(times)
    print(f"loss {loss.item():.3f}")
    watch.tell(sum(times[step] - usual for step in large) / (watch.ended - watch.began), large=len(large))


if __name__ == "__main__":
    main()
