"""Trains a classifier of soils with DistributedDataParallel on two ranks.

Planted: rank 1's storage is far away; rank 0 waits for rank 1 in the backward pass.
Truth: time that rank 1 waits for its storage, of its loop, as rank 0 learns it at the end.
Run: torchrun with two processes.
"""
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from stopwatch import Stopwatch


def soils(rank):
    if rank == 1:
        time.sleep(0.012)
    return torch.randn(160, 400), torch.randint(9, (160,))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.set_num_threads(1)
    torch.manual_seed(127 + rank)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(400, 500), nn.ReLU(), nn.Linear(500, 500), nn.ReLU(), nn.Linear(500, 9)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch = Stopwatch()
    dist.barrier()
    with watch.loop():
        for _ in range(110):
            with watch.planted():
                rows, kinds = soils(rank)
            loss = nn.functional.cross_entropy(model(rows), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    share = torch.tensor(watch.planted_s / (watch.ended - watch.began))
    dist.broadcast(share, 1)
    if rank == 0:
        print(f"loss {loss.item():.3f}")
        watch.tell(share.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
