"""Finds forgeries; the catalogue of an archive stays in memory as Python objects.

Decoy: half a million objects live, but they are frozen before the loop and the collector seldom runs.
Truth: time of the collector, as a share of the loop.
"""
import gc
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(21)
    watch = Stopwatch()
    archive = [{"number": number, "shelf": [number % 90, number % 7]} for number in range(250000)]
    gc.collect()
    gc.freeze()
    began = [0.0]

    def collecting(phase, _about):
        if phase == "start":
            began[0] = time.perf_counter()
        else:
            watch.planted_s += time.perf_counter() - began[0]

    model = nn.Sequential(nn.Conv2d(1, 32, 7, stride=2), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
                          nn.Linear(256, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scans, real = torch.rand(128, 1, 96, 96), torch.randint(0, 2, (128,))
    gc.callbacks.append(collecting)
    watch.planted_s = 0.0
    with watch.loop():
        for number in range(10000):
            at = number * 32 % 128
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(scans[at:at + 32]), real[at:at + 32]).backward()
            optimizer.step()
            watch.step()
            if watch.seconds() > 6:
                break
    watch.tell()
    assert len(archive) == 250000


if __name__ == "__main__":
    main()
