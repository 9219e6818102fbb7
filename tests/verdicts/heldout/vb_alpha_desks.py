"""Two desks train one model of returns: each process sees its own markets, a mixture of small experts predicts the
return of tomorrow, and gradients are averaged with gloo; torch.multiprocessing starts the desks.

Planted: each of 44 gradients is averaged by a call of its own, one after the other, rather than as one vector.
Truth: time of these calls in the first desk, of the loop.
"""
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from stopwatch import Stopwatch

FACTORS, EXPERTS, DESKS, BATCH = 64, 10, 2, 6144


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(FACTORS, 128), nn.Linear(128, 1)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class Returns(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(FACTORS, 32), nn.Tanh(), nn.Linear(32, EXPERTS))
        self.experts = nn.ModuleList(Expert() for _ in range(EXPERTS))

    def forward(self, x):
        weights = self.gate(x).softmax(1)
        return (weights * torch.cat([expert(x) for expert in self.experts], 1)).sum(1)


def average(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= DESKS


def desk(rank, meeting):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=DESKS)
    torch.manual_seed(0)
    model, watch = Returns(), Stopwatch()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    generator = torch.Generator().manual_seed(rank)
    factors = torch.randn(4 * BATCH, FACTORS, generator=generator)
    tomorrow = factors[:, :4].prod(1).tanh() + 0.1 * torch.randn(len(factors), generator=generator)
    go_on, place = torch.ones(1), 0
    dist.barrier()
    with watch.loop():
        while go_on:
            x, y = factors[place:place + BATCH], tomorrow[place:place + BATCH]
            place = (place + BATCH) % len(factors)
            loss = nn.functional.huber_loss(model(x), y)
            optimizer.zero_grad(set_to_none=False)
            loss.backward()
            with watch.planted():
                average(model)
            optimizer.step()
            watch.step()
            if len(watch.marks) % 5 == 0:
                go_on[0] = watch.seconds() < 6.5
                dist.broadcast(go_on, 0)
    if rank == 0:
        print(f"loss {loss.item():.4f}")
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(desk, args=(os.path.join(folder, "meeting"),), nprocs=DESKS)
