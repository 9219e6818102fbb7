"""Predicts yields of fields, and after a while their moisture too.

Planted: after the first 1.7 s each step trains a second head.
Truth: time of the second head, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def tower():
    return nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))


def main():
    torch.manual_seed(101)
    torch.set_num_threads(1)
    yields, moisture = tower(), tower()
    optimizer = torch.optim.SGD([*yields.parameters(), *moisture.parameters()], lr=0.01)
    fields, watch = torch.randn(300, 256), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.6:
            optimizer.zero_grad()
            loss = yields(fields).square().mean()
            loss.backward()
            if watch.seconds() > 1.7:
                with watch.planted():
                    (moisture(fields) - 1).square().mean().backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
