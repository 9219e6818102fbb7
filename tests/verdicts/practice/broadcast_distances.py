"""Learns a map of cities from their distances.

Planted: all differences are written to a tensor of 15 MB for each sum, whose pages come new from the system.
Truth: time of the kernel for the loop's thread, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def distances(places):
    return ((places[:, None] - places[None]) ** 2).sum(-1)


def main():
    torch.manual_seed(59)
    torch.set_num_threads(1)
    body = nn.Sequential(nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 16))
    optimizer = torch.optim.SGD(body.parameters(), lr=0.01)
    cities = torch.randn(480, 64)
    wanted = torch.cdist(cities, cities) ** 2
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.5:
            loss = nn.functional.l1_loss(distances(body(cities)), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell(watch.system_s / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
