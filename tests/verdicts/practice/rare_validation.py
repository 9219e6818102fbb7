"""Predicts yields of a chemical reaction, and validates on a few rows at times.

Decoy of evaluation: it takes a thousandth of the time.
Truth: time of validating, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def validate(model, rows, yields):
    model.eval()
    with torch.no_grad():
        error = nn.functional.l1_loss(model(rows), yields).item()
    model.train()
    return error


def main():
    torch.manual_seed(81)
    model = nn.Sequential(nn.Linear(200, 700), nn.ReLU(), nn.Dropout(0.2), nn.Linear(700, 500), nn.ReLU(), nn.Linear(500, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    reactions, yields = torch.randn(8000, 200), torch.rand(8000, 1)
    watch, error = Stopwatch(), 0.0
    with watch.loop():
        while watch.seconds() < 3:
            chosen = torch.randint(7000, (448,))
            loss = nn.functional.mse_loss(model(reactions[chosen]), yields[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            if len(watch.marks) % 40 == 0:
                with watch.planted():
                    error = validate(model, reactions[7900:], yields[7900:])
    print(f"loss {loss.item():.4f} error {error:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
