"""Predicts where a storm will be in six hours: a recurrent network over its past positions; the script starts two ranks of gloo, which average gradients in one tensor.

Planted: the archive is sorted by age and cut in halves, so rank 1 has the long-lived storms and rank 0 waits for it at each average.
Truth: time that rank 0 waits in the all-reduce, as a share of the loop.
"""
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from stopwatch import Stopwatch

FIXES, BATCH, WIDTH = 9, 48, 96


def archive():
    """Storms, youngest first: groups of one length, as their batches are."""
    draw = torch.Generator().manual_seed(17)
    ages = torch.randint(10, 64, (32,), generator=draw).sort().values.tolist()
    groups = []
    for age in ages:
        fixes = torch.randn(BATCH, age, FIXES, generator=draw)
        groups.append((fixes, fixes[:, -3:, :2].mean(1)))
    return groups


class Track(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(FIXES, WIDTH)
        self.past = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.leave = nn.Linear(WIDTH, 2)

    def forward(self, fixes):
        state, _ = self.past(torch.tanh(self.enter(fixes)))
        return self.leave(state[:, -1])


def average(parameters, flat):
    torch.cat([p.grad.flatten() for p in parameters], out=flat)
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    for parameter, mean in zip(parameters, flat.split([p.numel() for p in parameters])):
        parameter.grad.copy_(mean.view_as(parameter))


def rank(number, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=number, world_size=2)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    track, watch = Track(), Stopwatch()
    optimizer = torch.optim.AdamW(track.parameters(), lr=1e-3, fused=True)
    parameters = list(track.parameters())
    flat = torch.zeros(sum(p.numel() for p in parameters))
    groups = archive()
    mine = groups[len(groups) // 2 * number:][:len(groups) // 2]
    order = torch.Generator().manual_seed(number)
    going = True
    with watch.loop():
        while going:
            fixes, there = mine[torch.randint(len(mine), (), generator=order)]
            loss = nn.functional.smooth_l1_loss(track(fixes), there)
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                average(parameters, flat)
            optimizer.step()
            watch.step()
            if len(watch.marks) % 25 == 0:
                late = torch.tensor([watch.seconds()])
                dist.broadcast(late, 0)
                going = late.item() < 6
    if number == 0:
        print(f"loss {loss.item():.4f}")
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        chosen = free.getsockname()[1]
    mp.spawn(rank, (chosen,), nprocs=2)
