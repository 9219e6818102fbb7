"""Two bakeries learn one model of tomorrow's sales together: each on its own days, gradients averaged with gloo.

Planted: the days are dealt out by length, the second bakery has those with many rows, so the first waits for it in each step.
Truth: time that the first bakery waits until the second is ready to exchange, of the loop.
"""
import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch

GOODS = 120


def days_of(rank):
    """Days in order of their rows; the first half is the first bakery's."""
    rows = sorted(200 + 100 * (number % 8) for number in range(32))
    mine = rows[rank * 16:(rank + 1) * 16]
    return [(torch.randn(count, GOODS), torch.randn(count, 1)) for count in mine]


def average(flat, watch):
    with watch.planted():
        dist.barrier()
    dist.all_reduce(flat)
    return flat.div_(dist.get_world_size())


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(GOODS, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer, days, watch = torch.optim.SGD(model.parameters(), lr=1e-3), days_of(rank), Stopwatch()
    parameters = list(model.parameters())
    stop = torch.zeros(1)
    dist.barrier()
    with watch.loop():
        for number in range(100_000):
            features, sold = days[number % 16]
            optimizer.zero_grad()
            for _ in range(3):
                (nn.functional.huber_loss(model(features + 0.01), sold) / 3).backward()
            stop.fill_(watch.seconds() > 6)
            flat = average(torch.cat([p.grad.flatten() for p in parameters] + [stop]), watch)
            at = 0
            for p in parameters:
                p.grad.copy_(flat[at:at + p.numel()].view_as(p))
                at += p.numel()
            optimizer.step()
            watch.step()
            if flat[-1] > 0:
                break
    if rank == 0:
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
