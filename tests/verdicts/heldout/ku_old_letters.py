"""Guesses the decade of old letters from their first lines, on two ranks that average their gradients.

Planted: letters are sorted by length and split in the middle, so rank 0 has the short ones and waits for rank 1 in each step.
Truth: time of rank 0 in all_reduce(), of its loop.
"""
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from stopwatch import Stopwatch

LETTERS, SIGNS, BATCH, DECADES = 800, 60, 40, 12


def archive():
    generator = torch.Generator().manual_seed(8)
    lengths = torch.randint(15, 75, (LETTERS,), generator=generator).sort().values
    return [(torch.randint(1, SIGNS, (int(n),), generator=generator), int(n) % DECADES) for n in lengths]


class Dater(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.sign = nn.Embedding(SIGNS, width, padding_idx=0)
        self.read = nn.GRU(width, width, batch_first=True)
        self.date = nn.Linear(width, DECADES)

    def forward(self, signs):
        return self.date(self.read(self.sign(signs))[0].mean(1))


def batch_of(mine, generator):
    """Letters of about the same length: a run of the sorted list."""
    start = int(torch.randint(0, len(mine) - BATCH, (1,), generator=generator))
    chosen = mine[start:start + BATCH]
    return nn.utils.rnn.pad_sequence([signs for signs, _ in chosen], batch_first=True), torch.tensor([decade for _, decade in chosen])


def date_letters(rank, size, store):
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=size)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    letters, model, watch = archive(), Dater(), Stopwatch()
    mine = letters[rank * LETTERS // size:(rank + 1) * LETTERS // size]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    generator = torch.Generator().manual_seed(rank)
    late = torch.zeros(1)
    dist.barrier()
    with watch.loop():
        while not late:
            signs, decades = batch_of(mine, generator)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(signs), decades)
            loss.backward()
            # One buffer for all gradients; its last number says that the time is over.
            flat = torch.cat([p.grad.flatten() for p in model.parameters()] + [torch.tensor([float(watch.seconds() > 6)])])
            with watch.planted():
                dist.all_reduce(flat)
            flat /= size
            late = flat[-1]
            nn.utils.vector_to_parameters(flat[:-1], [p.grad for p in model.parameters()])
            optimizer.step()
            watch.step()
    if rank == 0:
        print(f"loss {loss.item():.3f}")
        watch.tell()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(date_letters, args=(2, os.path.join(folder, "store")), nprocs=2)
