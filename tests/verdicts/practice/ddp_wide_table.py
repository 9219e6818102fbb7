"""Recommends films with DistributedDataParallel on two ranks.

Planted: the gradient of a table of 40000 films is dense, and 10 MB are averaged in each step.
Truth: time of averaging as many bytes, as measured after the loop, as a share of the loop.
Run: torchrun with two processes.
"""
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from stopwatch import Stopwatch


class Films(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(40_000, 64)
        self.body = nn.Sequential(nn.Linear(64, 400), nn.ReLU(), nn.Linear(400, 64))

    def forward(self, seen, wanted):
        return (self.body(self.table(seen)) * self.table(wanted)).sum(-1)


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(230 + dist.get_rank())
    model = DistributedDataParallel(Films())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    watch = Stopwatch()
    dist.barrier()
    with watch.loop():
        for _ in range(60):
            seen, wanted = torch.randint(40_000, (2, 512))
            loss = nn.functional.softplus(-model(seen, wanted)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    gradient = torch.zeros(40_000, 64)
    began = time.perf_counter()
    for _ in range(5):
        dist.all_reduce(gradient)
    averaging = (time.perf_counter() - began) / 5
    if dist.get_rank() == 0:
        print(f"loss {loss.item():.3f}")
        watch.tell(averaging * len(watch.marks) / (watch.ended - watch.began))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
