"""Predicts how long groceries keep.

Planted: nothing; products of matrices take nearly all of each step.
Truth: time of the optimizer, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(139)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(80, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    goods, days, watch = torch.randn(2500, 80), torch.randn(2500, 1), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            loss = nn.functional.mse_loss(model(goods), days)
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
