"""Ranks: two processes that train the same model with gloo, on this machine.

The planted time is measured in the first rank: around all_reduce() for `reduce`, around backward() less
the median of backward() in a process alone for the others. Two ranks need two processors: with fewer
each waits for the other.

reduce         each step adds up a large tensor over both ranks                      communication
straggler      the second rank sleeps in each step; the first waits in backward      rank-waits
busy-rank      the second rank computes longer in each step                          rank-waits

Decoys: what looks alike
both-wait      both ranks sleep as long: neither waits for the other                 idle
small          gradients of a small model: communication takes next to nothing
"""
import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist
from torch import multiprocessing
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from planted import Mixer, Run, compute, images, wait


def train(rank, meeting):
    run = Run(steps=50)
    cause, ms = run.cause, run.ms()
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=2)
    batches, alone = [images() for _ in range(4)], backward_alone()
    model = DistributedDataParallel(Mixer())
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    size = torch.tensor(max(1, int(ms / reduce_ms() * (1 << 20))))
    dist.broadcast(size, 0)  # both ranks add up as much
    large = torch.ones(size.item())
    for number in run.steps():
        x, y = batches[number % 4]
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x), y)
        late = rank == 1 or cause == "both-wait"
        if cause in ("straggler", "both-wait") and late:
            with run.planting():
                wait(run.ms())
        elif cause == "busy-rank" and late:
            with run.planting():
                compute(run.ms())
        began = time.perf_counter()
        loss.backward()
        if cause in ("straggler", "busy-rank", "small"):
            run.add(max(0.0, time.perf_counter() - began - alone))
        if cause == "reduce" and ms:
            with run.planting():
                dist.all_reduce(large)
        optimizer.step()
    if rank == 0:
        run.close()
    time.sleep(.1)  # gloo's threads end with the last collective first: else PyTorch 2.13 deadlocks at times
    dist.destroy_process_group()


def reduce_ms():
    """Milliseconds to add up 4 MiB over both ranks, as the first one measured it."""
    part, times = torch.ones(1 << 20), []
    for _ in range(6):
        began = time.perf_counter()
        dist.all_reduce(part)
        times.append(time.perf_counter() - began)
    took = torch.tensor(min(times) * 1e3)
    dist.broadcast(took, 0)
    return took.item()


def backward_alone():
    """Seconds of a backward of the same model without other ranks."""
    model, (x, y), times = Mixer(), images(), []
    for _ in range(8):
        loss = functional.cross_entropy(model(x), y)
        began = time.perf_counter()
        torch.autograd.grad(loss, list(model.parameters()))
        times.append(time.perf_counter() - began)
    return sorted(times)[len(times) // 2]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(train, (os.path.join(folder, "meeting"),), nprocs=2)
    sys.exit(0)
