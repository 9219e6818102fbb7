"""Learns to steer a kite from a rolling buffer of what happened before.

Decoy: each step writes new experience into a buffer, which was allocated before and never grows.
Truth: time of writing into it, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(191)
    torch.set_num_threads(1)
    values = nn.Sequential(nn.Linear(60, 360), nn.ReLU(), nn.Linear(360, 360), nn.ReLU(), nn.Linear(360, 3))
    optimizer = torch.optim.SGD(values.parameters(), lr=0.01)
    past, watch, oldest = torch.randn(20000, 60), Stopwatch(), 0
    with watch.loop():
        while watch.seconds() < 3.4:
            with watch.planted():
                past[oldest: oldest + 50].normal_()
                oldest = (oldest + 50) % 20000
            chosen = past[torch.randint(20000, (1000,))]
            loss = (values(chosen) - chosen[:, :3]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
