"""Names birds by their phrases: a GRU, trained by two ranks over gloo.

Planted: the phrases are sorted by length before they are shared out, so rank 1 always has the long half, and rank 0 waits
for it at the exchange of gradients.
Truth: on rank 0, time by which rank 1 computed longer, of the loop.
"""
import time

import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch

BANDS, BIRDS, BATCH = 40, 30, 12


class Singer(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.ear = nn.GRU(BANDS, width, batch_first=True)
        self.name = nn.Linear(width, BIRDS)

    def forward(self, phrases):
        return self.name(self.ear(phrases)[0].mean(1))


def my_phrases(rank, ranks):
    lengths = sorted([28, 30, 32, 34, 36, 38, 40, 42] + [56, 58, 60, 62, 64, 66, 68, 70])
    share = len(lengths) // ranks
    return [torch.randn(BATCH, length, BANDS) for length in lengths[rank * share:(rank + 1) * share]]


class Exchange:
    """One flat buffer with all gradients, and two numbers behind them: how long each rank computed, and who wants to end."""

    def __init__(self, model, ranks):
        self.parameters = list(model.parameters())
        self.flat = torch.zeros(sum(p.numel() for p in self.parameters) + ranks + 1)
        self.ranks = ranks

    def __call__(self, rank, computed_s, ends):
        count = self.flat.numel() - self.ranks - 1
        torch.cat([p.grad.reshape(-1) for p in self.parameters], out=self.flat[:count])
        notes = self.flat[count:]
        notes.zero_()
        notes[rank], notes[-1] = computed_s, float(ends)
        dist.all_reduce(self.flat)
        at = 0
        for p in self.parameters:
            p.grad.copy_(self.flat[at:at + p.numel()].view_as(p)).div_(self.ranks)
            at += p.numel()
        return notes.tolist()


def main():
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    watch = Stopwatch()
    model = Singer()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    exchange, phrases = Exchange(model, ranks), my_phrases(rank, ranks)
    names = torch.randint(BIRDS, (BATCH,))
    dist.barrier()
    with watch.loop():
        ends = False
        while not ends:
            began = time.perf_counter()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(phrases[len(watch.marks) % len(phrases)]), names).backward()
            notes = exchange(rank, time.perf_counter() - began, watch.seconds() > 6)
            watch.planted_s += max(0.0, notes[1] - notes[0])
            ends = notes[-1] > 0
            optimizer.step()
            watch.step()
    if rank == 0:
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
