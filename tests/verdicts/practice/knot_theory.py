"""Predicts invariants of knots, whose diagrams stay in memory as Python objects.

Planted: each third step calls gc.collect, which walks all diagrams.
Truth: time of the collections, as a share of the loop.
"""
import gc

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(59)
    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()
    diagrams = [{"crossings": [[part, -part] for part in range(6)], "name": [knot]} for knot in range(8000)]
    model = nn.Sequential(nn.Linear(200, 700), nn.ELU(), nn.Linear(700, 700), nn.ELU(), nn.Linear(700, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    knots, invariants, watch = torch.randn(500, 200), torch.randn(500), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            loss = nn.functional.mse_loss(model(knots).squeeze(1), invariants)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if len(watch.marks) % 3 == 2:
                with watch.planted():
                    gc.collect()
            watch.step()
    print(f"loss {loss.item():.3f} over {len(diagrams)} diagrams")
    watch.tell()


if __name__ == "__main__":
    main()
