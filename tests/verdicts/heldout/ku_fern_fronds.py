"""Learns features of fern fronds without names: a student imitates a slow teacher, on two ranks.

Planted: after each step rank 0 sends the teacher's state as a pickled object by broadcast_object_list().
Truth: time of rank 0 in broadcast_object_list(), of its loop.
"""
import copy
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from stopwatch import Stopwatch

SIDE, BATCH = 24, 40


def network():
    return nn.Sequential(nn.Conv2d(1, 24, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(24 * SIDE * SIDE // 4, 512), nn.ReLU(),
                         nn.Linear(512, 128))


def views(generator):
    """Two views of the same fronds: one with noise, one with parts hidden."""
    axis = torch.linspace(-1, 1, SIDE)
    bend, width = torch.rand(2, BATCH, 1, 1, generator=generator)
    frond = (-((axis.view(1, 1, -1) - (bend - 0.5) * axis.view(1, -1, 1) ** 2) / (0.05 + 0.3 * width)) ** 2).exp().unsqueeze(1)
    hidden = (torch.rand(BATCH, 1, SIDE, SIDE, generator=generator) > 0.3).float()
    return frond + 0.1 * torch.randn(BATCH, 1, SIDE, SIDE, generator=generator), frond * hidden


def average(parameters, size):
    flat = nn.utils.parameters_to_vector([p.grad for p in parameters])
    dist.all_reduce(flat)
    nn.utils.vector_to_parameters(flat / size, [p.grad for p in parameters])


def grow(rank, size, store):
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=size)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    student, watch = network(), Stopwatch()
    teacher = copy.deepcopy(student).requires_grad_(False)
    parameters = list(student.parameters())
    optimizer = torch.optim.SGD(parameters, lr=0.01)
    generator = torch.Generator().manual_seed(10 + rank)
    goes_on = torch.ones(1)
    dist.barrier()
    with watch.loop():
        while goes_on:
            noisy, hidden = views(generator)
            with torch.no_grad():
                wanted = nn.functional.normalize(teacher(noisy))
            loss = 2 - 2 * (nn.functional.normalize(student(hidden)) * wanted).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            average(parameters, size)
            optimizer.step()
            if rank == 0:
                with torch.no_grad():
                    for slow, fast in zip(teacher.parameters(), parameters):
                        slow.lerp_(fast, 0.01)
            parcel = [teacher.state_dict() if rank == 0 else None]
            with watch.planted():
                dist.broadcast_object_list(parcel, src=0)
            if rank:
                teacher.load_state_dict(parcel[0])
            watch.step()
            goes_on[0] = float(watch.seconds() < 6)
            dist.broadcast(goes_on, 0)
    if rank == 0:
        print(f"loss {loss.item():.4f}")
        watch.tell()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(grow, args=(2, os.path.join(folder, "store")), nprocs=2)
