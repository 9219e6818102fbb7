"""Fits demand for lottery tickets on a shared machine that gives each user a quota.

Planted: each step ends with a wait until its share of the quota is free again.
Truth: time of that wait, as a share of the loop.
"""
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(60)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(128, 640), nn.SiLU(), nn.Linear(640, 640), nn.SiLU(), nn.Linear(640, 1))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-4, foreach=True)
    towns, tickets = torch.randn(256, 128), torch.randn(256)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            began = time.perf_counter()
            loss = nn.functional.mse_loss(model(towns).squeeze(1), tickets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                time.sleep(0.5 * (time.perf_counter() - began))
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
