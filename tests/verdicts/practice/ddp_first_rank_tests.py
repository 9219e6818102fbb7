"""Two ranks learn the names of rivers.

Planted: after each fourth step the first rank tests the model alone, and the other waits for it in the next step.
Truth: time of the first rank's tests, as a share of the loop; rank 1 waits as long.
"""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from stopwatch import Stopwatch


def main():
    torch.manual_seed(12)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    watch = Stopwatch()
    model = DistributedDataParallel(nn.Sequential(nn.Linear(300, 600), nn.ReLU(), nn.Linear(600, 600), nn.ReLU(), nn.Linear(600, 50)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    rivers, names, held_back = torch.rand(96, 300), torch.arange(96) % 50, torch.rand(1500, 300)
    steps = 400
    with watch.loop():
        for step in range(steps):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(rivers), names).backward()
            optimizer.step()
            if rank == 0 and step % 4 == 3:
                with watch.planted(), torch.no_grad():
                    model.module(held_back).argmax(1)
            watch.step()
    if rank == 0:
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
