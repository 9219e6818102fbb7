"""Forecasts how many loaves are sold, on a machine that its author believes to be larger.

Planted: operators run in eight times as many threads as there are processors.
Truth: by how much a step takes longer than with one thread a processor, measured before the loop.
"""
import os
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(17)
    processors = len(os.sched_getaffinity(0))
    model = nn.Sequential(nn.Linear(300, 200), *[layer for _ in range(4) for layer in (nn.LayerNorm(200), nn.GELU(), nn.Linear(200, 200))],
                          nn.Linear(200, 1))
    days, loaves = torch.rand(2000, 300), torch.rand(2000, 1)

    def passes():
        model.zero_grad()
        nn.functional.mse_loss(model(days), loaves).backward()

    torch.set_num_threads(processors)
    alone_s = []
    for _ in range(12):
        began = time.perf_counter()
        passes()
        alone_s.append(time.perf_counter() - began)
    torch.set_num_threads(8 * processors)
    optimizer, watch = torch.optim.SGD(model.parameters(), lr=0.01), Stopwatch()
    with watch.loop():
        while watch.seconds() < 6:
            passes()
            optimizer.step()
            watch.step()
    watch.tell(1 - min(alone_s[2:]) * len(watch.marks) / watch.seconds())


if __name__ == "__main__":
    main()
