"""Recognises signatures with a huge table and sparse gradients.

Decoy: the table has millions of weights, but its gradients are sparse, so that the optimizer has little to do.
Truth: time of the optimizer, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(193)
    torch.set_num_threads(1)
    table = nn.Embedding(60000, 64, sparse=True)
    model = nn.Sequential(nn.Linear(64 * 3, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 12))
    optimizer = torch.optim.SGD([*table.parameters(), *model.parameters()], lr=0.01)
    strokes, names, watch = torch.randint(60000, (900, 3)), torch.randint(12, (900,)), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            loss = nn.functional.cross_entropy(model(table(strokes).flatten(1)), names)
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
