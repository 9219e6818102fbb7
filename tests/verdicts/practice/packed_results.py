"""Trains a forecaster of floods, while other programs pack the results of earlier runs.

Planted: three packers share the processor's cores with the loop.
Truth: time in which the loop's thread did not run, as a share of the loop.
"""
import subprocess
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(229)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(512, 900), nn.ReLU(), nn.Linear(900, 600), nn.ReLU(), nn.Linear(600, 24))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    gauges, watch = torch.randn(6000, 512), Stopwatch()
    packers = [subprocess.Popen(["gzip", "-9", "-c", "/dev/urandom"], stdout=subprocess.DEVNULL) for _ in range(3)]
    try:
        ran = time.thread_time()
        with watch.loop():
            while watch.seconds() < 3.6:
                chosen = torch.randint(6000, (128,))
                loss = nn.functional.mse_loss(model(gauges[chosen]), gauges[chosen, :24])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
        ran = time.thread_time() - ran
    finally:
        for packer in packers:
            packer.kill()
            packer.wait()
    print(f"loss {loss.item():.3f}")
    watch.tell(1 - ran / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
