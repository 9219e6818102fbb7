"""Calibrates sensors, of which each has parameters of its own.

Planted: Adam with foreach=False steps through 300 parameters.
Truth: time of the optimizer's step, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(79)
    torch.set_num_threads(1)
    offsets = nn.ParameterList(nn.Parameter(torch.zeros(8)) for _ in range(300))
    model = nn.Sequential(nn.Linear(2400, 400), nn.ReLU(), nn.Linear(400, 400), nn.ReLU(), nn.Linear(400, 2))
    optimizer = torch.optim.Adam([*offsets, *model.parameters()], lr=1e-3, foreach=False)
    readings, weather, watch = torch.randn(250, 2400), torch.randn(250, 2), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            loss = nn.functional.mse_loss(model(readings - torch.cat(list(offsets))), weather)
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
