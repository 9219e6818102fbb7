"""Rates wines from their analysis with Lightning's Fabric.

Planted: nothing. Batches are slices of a table in memory.
Truth: time of taking the slices, as a share of the loop.
"""
import warnings

import torch
from lightning.fabric import Fabric
from torch import nn

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")


def main():
    fabric = Fabric(accelerator="cpu", devices=1)
    fabric.launch()
    torch.manual_seed(71)
    model = nn.Sequential(nn.Linear(64, 640), nn.ReLU(), nn.Dropout(0.1), nn.Linear(640, 640), nn.ReLU(), nn.Linear(640, 1))
    model, optimizer = fabric.setup(model, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9))
    wines = torch.randn(512 * 40, 64)
    ratings = wines[:, :5].mean(1, keepdim=True)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            with watch.planted():
                first = 512 * (len(watch.marks) % 40)
                analyses, rated = wines[first:first + 512], ratings[first:first + 512]
            loss = nn.functional.mse_loss(model(analyses), rated)
            optimizer.zero_grad()
            fabric.backward(loss)
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
