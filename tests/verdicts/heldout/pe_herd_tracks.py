"""What a cow does (grazes, chews, lies, walks): a network over the collar's accelerations, two farms that are ranks of gloo and keep their data.

Clean: each farm trains by itself and the weights are averaged each 0.8 seconds, in one piece; batches of one size, one thread each.
Truth: time of the averages, with the waits for the other farm, as a share of the loop, on rank 0.
"""
import multiprocessing
import os
import tempfile
import time

import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch

MOMENTS, AXES, DOINGS, BATCH, EACH = 128, 3, 4, 64, 0.8
MEETINGS = 8


class Collar(nn.Module):
    def __init__(self, width=56):
        super().__init__()
        self.patches = nn.Conv1d(AXES, width, 8, 4)
        self.mix = nn.Sequential(nn.Conv1d(width, width, 5, padding=2), nn.GELU(), nn.Conv1d(width, width, 5, padding=2), nn.GELU())
        self.say = nn.Linear(2 * width, DOINGS)

    def forward(self, felt):
        patches = torch.tanh(self.patches(felt))
        patches = patches + self.mix(patches)
        return self.say(torch.cat([patches.mean(2), patches.amax(2)], 1))


@torch.no_grad()
def meet(collar):
    weights = nn.utils.parameters_to_vector(collar.parameters())
    dist.all_reduce(weights)
    nn.utils.vector_to_parameters(weights / 2, collar.parameters())


def farm(rank, store):
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
    torch.set_num_threads(1)
    torch.manual_seed(100)
    collar, watch = Collar(), Stopwatch()
    optimizer = torch.optim.SGD(collar.parameters(), lr=0.02, momentum=0.9, fused=True)
    draw = torch.Generator().manual_seed(rank)
    felt = torch.randn(20, BATCH, AXES, MOMENTS, generator=draw)
    does = felt[:, :, 0].unfold(2, 32, 32).square().mean(3).argmax(2)
    number, meetings, going = 0, 0, True
    meet(collar)
    met = time.monotonic()
    with watch.loop():
        while going:
            loss = nn.functional.cross_entropy(collar(felt[number % 20]), does[number % 20])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
            number += 1
            if time.monotonic() > met + EACH:
                with watch.planted():
                    meet(collar)
                met = time.monotonic()
                meetings += 1
                going = meetings < MEETINGS
    if rank == 0:
        print(f"loss {loss.item():.4f}")
        watch.tell()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory() as folder:
        other = multiprocessing.get_context("spawn").Process(target=farm, args=(1, os.path.join(folder, "store")))
        other.start()
        farm(0, os.path.join(folder, "store"))
        other.join()
