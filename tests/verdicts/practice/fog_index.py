"""Estimates visibility in fog with a physical model of scattering.

Planted: the scattering is a chain of ten elementwise operators on 600000 elements, forward and backward.
Truth: time of the chain's forward part, as a share of the loop; its backward part comes besides.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def scatter(depth):
    return ((depth * 0.3 + 0.1).sigmoid() * 1.7 - 0.2).tanh().mul(0.5).add(0.4).abs().add(1).reciprocal()


def main():
    torch.manual_seed(97)
    torch.set_num_threads(1)
    model = nn.Linear(256, 1000)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    pictures, watch = torch.randn(600, 256), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.6:
            depth = model(pictures)
            with watch.planted():
                clear = scatter(depth)
            loss = (clear - 0.6).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
