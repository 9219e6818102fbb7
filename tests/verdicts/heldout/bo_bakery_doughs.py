"""Foretells how high a dough rises from the curve of its warmth: a recurrent network, two ranks with gloo and averaged gradients.

Planted: the doughs are sorted by the length of their curves and then cut in two, so the second rank has the long ones and the first waits.
Truth: time by which the first rank is done before the second, of the loop.
"""
import contextlib
import time

import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch

DOUGHS, BATCH, WARMTHS = 512, 24, 6
watch = Stopwatch()


class Rise(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.body = nn.GRU(WARMTHS, width, batch_first=True)
        self.height = nn.Sequential(nn.Linear(width, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, curves):
        return self.height(self.body(curves)[0][:, -1]).squeeze(1)


def my_doughs(rank, ranks):
    """Sorted, so that a batch needs little filling up."""
    draw = torch.Generator().manual_seed(8)
    lengths = torch.randint(24, 105, (DOUGHS,), generator=draw).sort().values
    share = lengths[rank * DOUGHS // ranks:(rank + 1) * DOUGHS // ranks]
    curves = [torch.randn(int(length), WARMTHS, generator=draw).cumsum(0) / 8 for length in share]
    return [(torch.nn.utils.rnn.pad_sequence(curves[i:i + BATCH], batch_first=True),
             torch.stack([c.amax() for c in curves[i:i + BATCH]])) for i in range(0, len(curves) - BATCH + 1, BATCH)]


def average(model):
    """All gradients as one tensor, as DistributedDataParallel does for a small model."""
    grads = [p.grad for p in model.parameters()]
    flat = torch.cat([g.flatten() for g in grads])
    dist.all_reduce(flat)
    for grad, part in zip(grads, flat.split([g.numel() for g in grads])):
        grad.copy_(part.view_as(grad) / dist.get_world_size())


def main():
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(5)
    model = Rise()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    batches = my_doughs(rank, ranks)
    dice = torch.Generator().manual_seed(40)
    computing = []
    dist.barrier()
    with watch.loop():
        going = True
        while going:
            curves, height = batches[int(torch.randint(len(batches), (1,), generator=dice))]
            began = time.perf_counter()
            loss = nn.functional.mse_loss(model(curves), height)
            optimizer.zero_grad()
            loss.backward()
            computing.append(time.perf_counter() - began)
            average(model)
            optimizer.step()
            watch.step()
            if len(computing) % 10 == 0:  # the ranks agree whether to go on
                late = torch.tensor([watch.seconds()])
                dist.broadcast(late, 0)
                going = late.item() < 6.5
    all_times = [None] * ranks
    dist.all_gather_object(all_times, computing)
    if rank == 0:
        watch.planted_s = sum(max(0.0, other - own) for own, other in zip(*all_times))
        print(f"loss {loss.item():.4f}")
        watch.tell()
    with contextlib.suppress(RuntimeError):
        dist.destroy_process_group()


main()
