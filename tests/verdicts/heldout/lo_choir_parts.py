"""Learns the parts of a choir on two ranks with gloo: recurrent networks that read scores.

Planted: rank 0 got the oratorios and rank 1 the motets, so rank 1 waits for rank 0 whenever gradients are added.
Truth: time that rank 1 spends in all_reduce(), of its loop.
"""
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from stopwatch import Stopwatch

PITCHES, VOICES, BARS = 36, 4, {0: 44, 1: 30}


class Part(nn.Module):
    """The bass and tenor from soprano and alto."""

    def __init__(self, width=80):
        super().__init__()
        self.pitch = nn.Embedding(PITCHES, 32)
        self.read = nn.GRU(64, width, batch_first=True, bidirectional=True)
        self.sing = nn.Linear(2 * width, 2 * PITCHES)

    def forward(self, upper):
        context, _ = self.read(self.pitch(upper).flatten(2))
        return self.sing(context).unflatten(2, (2, PITCHES))


def scores(rank, count=128):
    generator = torch.Generator().manual_seed(40 + rank)
    soprano = torch.randint(12, PITCHES, (count, BARS[rank]), generator=generator).cummax(1).values
    return torch.stack([soprano, soprano - 4, soprano - 7, soprano - 12], 2).clamp(min=0)


def add_up(parameters):
    """One message for all gradients."""
    flat = torch.cat([p.grad.view(-1) for p in parameters])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    for p, slope in zip(parameters, flat.split([p.numel() for p in parameters])):
        p.grad.copy_(slope.view_as(p))


def sing(rank, port, steps_until):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE="2")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo")
    model, watch, library = Part(), Stopwatch(), scores(rank)
    parameters = list(model.parameters())
    optimizer = torch.optim.Adam(parameters, lr=2e-3)
    over = torch.zeros(1)
    with watch.loop():
        for step in range(100000):
            pages = library[torch.arange(16) + step * 16 % 112]
            odds = model(pages[:, :, :2])
            loss = nn.functional.cross_entropy(odds.flatten(0, 2), pages[:, :, 2:].flatten())
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                add_up(parameters)
            optimizer.step()
            watch.step()
            if step % 16 == 15:  # both end after the same step
                over.fill_(float(watch.seconds() > steps_until))
                dist.broadcast(over, 1)
                if over.item():
                    break
    print(f"rank {rank}: loss {loss.item():.3f}", flush=True)
    if rank == 1:
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    mp.spawn(sing, (free, 6.5), nprocs=2)
