"""Learns the second part of a duet from the first: two processes with gloo, each has half of the recordings.

Planted: each parameter's gradient is reduced by a call of its own, for a deep stack with more than a hundred small parameters.
Truth: time of the first process in all_reduce(), of its loop.
"""
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from stopwatch import Stopwatch

BARS, WIDTH, DEPTH = 24, 96, 14


class Fold(nn.Module):
    """Mixes within a bar, then along the bars."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.along = nn.Linear(BARS, BARS)
        self.gain = nn.Parameter(torch.full((WIDTH,), 0.1))

    def forward(self, notes):
        inner = self.down(torch.nn.functional.gelu(self.up(self.norm(notes))))
        return notes + self.gain * (inner + self.along(notes.transpose(1, 2)).transpose(1, 2))


class Second(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.Linear(12, WIDTH)
        self.folds = nn.ModuleList(Fold() for _ in range(DEPTH))
        self.write = nn.Linear(WIDTH, 12)

    def forward(self, first):
        notes = self.read(first)
        for fold in self.folds:
            notes = fold(notes)
        return self.write(notes)


class Pair:
    """The two players: what they agree on."""

    def __init__(self, model, watch):
        self.model, self.watch, self.size = model, watch, dist.get_world_size()
        for parameter in model.parameters():
            dist.broadcast(parameter.data, 0)

    def agree(self):
        for parameter in self.model.parameters():
            with self.watch.planted():
                dist.all_reduce(parameter.grad)
            parameter.grad.div_(self.size)

    def stop(self, wish):
        flag = torch.tensor([float(wish)])
        dist.broadcast(flag, 0)
        return bool(flag.item())


def play(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.set_num_threads(1)
    torch.manual_seed(3)
    model, watch = Second(), Stopwatch()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    pair = Pair(model, watch)
    generator = torch.Generator().manual_seed(rank)
    first = torch.rand(512, BARS, 12, generator=generator)
    second = first.roll(4, 2) * 0.7 + first.roll(1, 1) * 0.3
    dist.barrier()
    with watch.loop():
        while True:
            at = torch.randint(0, 512, (64,), generator=generator)
            loss = nn.functional.smooth_l1_loss(model(first[at]), second[at])
            optimizer.zero_grad()
            loss.backward()
            pair.agree()
            optimizer.step()
            watch.step()
            if len(watch.marks) % 10 == 0 and pair.stop(watch.seconds() > 6.5):
                break
    if rank == 0:
        print(f"loss {loss.item():.4f}")
        watch.tell()
    dist.destroy_process_group()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


if __name__ == "__main__":
    mp.spawn(play, (free_port(),), nprocs=2)
