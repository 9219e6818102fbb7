"""Counts stars on photographic plates, on two ranks; only the first can read the archive, so it deals plates out.

Planted: rank 0 draws and develops the plates of both ranks in each step, while rank 1 waits in scatter().
Truth: time of rank 1 in scatter(), of its loop.
"""
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from stopwatch import Stopwatch

SIDE, BATCH = 48, 16


class Archive:
    def __init__(self):
        self.generator = torch.Generator().manual_seed(2)

    def plate(self):
        """Stars on a sky that the lens has blurred; the number of stars is the last value."""
        count = int(torch.randint(15, 60, (1,), generator=self.generator))
        x, y = torch.rand(2, count, generator=self.generator) * SIDE
        axis = torch.arange(SIDE, dtype=torch.float32)
        plate = torch.zeros(SIDE, SIDE)
        for star in range(count):
            plate += torch.outer((-(axis - y[star]) ** 2 / 3).exp(), (-(axis - x[star]) ** 2 / 3).exp())
        plate = plate + 0.05 * torch.randn(SIDE, SIDE, generator=self.generator)
        return torch.cat([plate.clamp(0, 1).flatten(), torch.tensor([count / 60])])

    def plates(self):
        return torch.stack([self.plate() for _ in range(BATCH)])


def counter():
    layers, width = [], 1
    for wider in (16, 24, 32):
        layers += [nn.Conv2d(width, wider, 3, padding=1), nn.ReLU(), nn.Conv2d(wider, wider, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        width = wider
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(9 * width, 64), nn.ReLU(), nn.Linear(64, 1))


def share_gradients(parameters, size):
    flat = nn.utils.parameters_to_vector([p.grad for p in parameters])
    dist.all_reduce(flat)
    nn.utils.vector_to_parameters(flat / size, [p.grad for p in parameters])


def observe(rank, size, store):
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=size)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    archive = Archive() if rank == 0 else None
    model, watch = counter(), Stopwatch()
    parameters = list(model.parameters())
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
    mine = torch.empty(BATCH, SIDE * SIDE + 1)
    goes_on = torch.ones(1)
    dist.barrier()
    with watch.loop():
        while goes_on:
            dealt = [archive.plates() for _ in range(size)] if rank == 0 else None
            with watch.planted():
                dist.scatter(mine, dealt, src=0)
            loss = nn.functional.smooth_l1_loss(model(mine[:, :-1].view(BATCH, 1, SIDE, SIDE)), mine[:, -1:])
            optimizer.zero_grad()
            loss.backward()
            share_gradients(parameters, size)
            optimizer.step()
            watch.step()
            goes_on[0] = float(watch.seconds() < 6)
            dist.broadcast(goes_on, 0)
    if rank == 1:
        print(f"loss {loss.item():.4f}")
        watch.tell()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(observe, args=(2, os.path.join(folder, "store")), nprocs=2)
