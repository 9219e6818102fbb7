"""Forecasts how full ferries are, on two processes that torch.multiprocessing starts and that average their gradients.

Planted: the gradient of each of 94 small parameters is averaged by an all_reduce() of its own, each awaited.
Truth: time of rank 0 in these all_reduce(), of its loop.
"""
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from stopwatch import Stopwatch

LINES, HOURS, BATCH = 16, 48, 128


class Mixer(nn.Module):
    """Mixes hours, then lines."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.hours = nn.Sequential(nn.Linear(HOURS, 96), nn.GELU(), nn.Linear(96, HOURS))
        self.lines = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.hours(self.norm(x).transpose(1, 2)).transpose(1, 2)
        return x + self.lines(x)


class Forecast(nn.Module):
    def __init__(self, width=24, depth=9):
        super().__init__()
        self.enter = nn.Linear(LINES, width)
        self.mixers = nn.Sequential(*[Mixer(width) for _ in range(depth)])
        self.leave = nn.Linear(width, LINES)

    def forward(self, x):
        return self.leave(self.mixers(self.enter(x))[:, -1])


def passengers(generator):
    start = 100 * torch.rand(BATCH, 1, 1, generator=generator)
    hours = start + torch.arange(HOURS + 1).view(1, -1, 1)
    return (hours * torch.linspace(0.1, 0.9, LINES)).sin() + 0.1 * torch.randn(BATCH, HOURS + 1, LINES, generator=generator)


def average_gradients(model, size, watch):
    for parameter in model.parameters():
        with watch.planted():
            dist.all_reduce(parameter.grad)
        parameter.grad /= size


def train(rank, size, store):
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=size)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    watch = Stopwatch()
    model = Forecast()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    generator = torch.Generator().manual_seed(40 + rank)
    dist.barrier()
    over = torch.zeros(1)
    with watch.loop():
        while not over:
            sea = passengers(generator)
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(sea[:, :-1]), sea[:, -1])
            loss.backward()
            average_gradients(model, size, watch)
            optimizer.step()
            watch.step()
            if len(watch.marks) % 10 == 0:
                over[0] = float(watch.seconds() > 6)
                dist.broadcast(over, 0)
    if rank == 0:
        print(f"loss {loss.item():.4f}")
        watch.tell()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(2, os.path.join(folder, "store")), nprocs=2)
