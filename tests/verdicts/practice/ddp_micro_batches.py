"""Trains a wide language model with DistributedDataParallel on two ranks, four micro-batches for each update.

Planted: gradients of 10 MB are reduced for each micro-batch, not only for the last one (no_sync() is missing).
Truth: time of the loop above that of the same passes without communication, measured before, and of the updates.
Run: torchrun with two processes.
"""
import contextlib
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from stopwatch import Stopwatch

MICRO = 4


def accumulate(model, sync_all):
    for number in range(MICRO):
        alone = contextlib.nullcontext() if sync_all or number == MICRO - 1 else model.no_sync()
        with alone:
            tokens = torch.randint(3000, (64, 8))
            loss = nn.functional.cross_entropy(model(tokens), tokens[:, 0])
            (loss / MICRO).backward()
    return loss


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(67 + dist.get_rank())
    model = DistributedDataParallel(nn.Sequential(nn.EmbeddingBag(3000, 400), nn.ReLU(), nn.Linear(400, 3000)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch, locally = Stopwatch(), []
    for _ in range(6):  # how long the work of a step takes without communication
        began = time.perf_counter()
        with model.no_sync():
            tokens = torch.randint(3000, (64, 8))
            (nn.functional.cross_entropy(model(tokens), tokens[:, 0])).backward()
        locally.append(time.perf_counter() - began)
        optimizer.zero_grad()
    own = MICRO * sorted(locally)[len(locally) // 2]
    dist.barrier()
    updates = 0.0
    with watch.loop():
        for _ in range(44):
            optimizer.zero_grad()
            loss = accumulate(model, sync_all=True)
            began = time.perf_counter()
            optimizer.step()
            updates += time.perf_counter() - began
            watch.step()
    loop_s = watch.ended - watch.began
    if dist.get_rank() == 0:
        print(f"loss {loss.item():.4f}")
        watch.tell(1 - (own * len(watch.marks) + updates) / loop_s)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
