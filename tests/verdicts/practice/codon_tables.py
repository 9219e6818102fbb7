"""Predicts proteins from codons, which are written as vectors of zeros and a one.

Planted: each step makes new tensors of 38 MB of zeros and ones for 50000 codons.
Truth: time of making them, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(228)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(64, 24), nn.ReLU(), nn.Linear(24, 21))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    genome, watch = torch.randint(64, (3_000_000,)), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            first = int(torch.randint(2_900_000, ()))
            codons = genome[first:first + 50_000]
            with watch.planted():
                vectors = nn.functional.one_hot(codons, 64).float()
            loss = nn.functional.cross_entropy(model(vectors), codons % 21)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
