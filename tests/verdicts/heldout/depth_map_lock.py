"""Estimates the depth of a robot's pictures and adds what it sees to a map that a planner reads.

Planted: the planner is another process and holds the map's file lock for two thirds of the time; the service waits for it.
Truth: time of waiting for the lock, of the loop.
"""
import fcntl
import os
import random
import signal
import tempfile
import time

import numpy as np
import torch
from torch import nn

from stopwatch import Stopwatch

CELLS = 64


def planner(path):
    """Reads the map and plans, with the lock held; ends with its parent."""
    parent = os.getppid()
    with open(path + ".lock", "w", encoding="ascii") as lock:
        while os.getppid() == parent:
            fcntl.flock(lock, fcntl.LOCK_EX)
            np.fromfile(path, dtype=np.float32)
            time.sleep(random.uniform(0.010, 0.030))
            fcntl.flock(lock, fcntl.LOCK_UN)
            time.sleep(random.uniform(0.004, 0.016))


class DepthNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 32, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU())
        self.middle = nn.Sequential(*(nn.Sequential(nn.Conv2d(64, 64, 3, padding=1), nn.ReLU()) for _ in range(4)))
        self.depth = nn.Conv2d(64, 1, 1)

    def forward(self, picture):
        return self.depth(self.middle(self.down(picture))).squeeze(1)


def main():
    torch.manual_seed(0)
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "map")
    np.zeros((CELLS, CELLS), dtype=np.float32).tofile(path)
    child = os.fork()
    if not child:
        planner(path)
        os._exit(0)
    model = DepthNet().eval()
    pictures = torch.rand(16, 1, 3, 192, 256)
    grid = np.memmap(path, dtype=np.float32, mode="r+", shape=(CELLS, CELLS))
    watch, number = Stopwatch(), 0
    with open(path + ".lock", "w", encoding="ascii") as lock, torch.inference_mode(), watch.loop():
        while watch.seconds() < 7:
            depth = model(pictures[number % 16])
            seen = nn.functional.adaptive_avg_pool2d(depth, CELLS)[0].numpy()
            with watch.planted():
                fcntl.flock(lock, fcntl.LOCK_EX)
            grid[:] = 0.9 * grid + 0.1 * seen
            fcntl.flock(lock, fcntl.LOCK_UN)
            number += 1
            watch.step()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(f"nearest {grid.min():.3f} after {number} pictures")
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    os.rmdir(folder)
    watch.tell()


if __name__ == "__main__":
    main()
