"""Rates melodies with large matrix products.

Planted: set_num_threads(1) is left over from a search for an error, and the machine's other processors do nothing.
Truth: time of steps less that with a thread for each processor, measured before the loop, as a share of the loop.
"""
import os
import statistics
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(14)
    watch = Stopwatch()
    model = nn.Sequential(nn.Linear(1024, 1500), nn.ReLU(), nn.Linear(1500, 1500), nn.ReLU(), nn.Linear(1500, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    melodies, ratings = torch.rand(384, 1024), torch.rand(384, 10)

    def train():
        optimizer.zero_grad()
        nn.functional.mse_loss(model(melodies), ratings).backward()
        optimizer.step()

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    usual = []
    for _ in range(16):
        began = time.perf_counter()
        train()
        usual.append(time.perf_counter() - began)
    torch.set_num_threads(1)
    with watch.loop():
        while watch.seconds() < 5:
            train()
            watch.step()
    watch.tell(share=1 - statistics.median(usual[4:]) / statistics.median(watch.step_times()))


if __name__ == "__main__":
    main()
