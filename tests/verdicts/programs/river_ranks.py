"""Two ranks learn names of rivers with a large table.

Planted: all gradients are put into one vector and added up after the backward pass, with nothing beside it.
Truth: time of adding up, as a share of the loop.
"""
import os

import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(109)
    torch.set_num_threads(1)
    table, head = nn.Embedding(6000, 96), nn.Sequential(nn.Linear(96 * 12, 400), nn.ReLU(), nn.Linear(400, 20))
    parameters = [*table.parameters(), *head.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=0.01)
    names = torch.randint(6000, (360, 12), generator=torch.Generator().manual_seed(dist.get_rank()))
    watch = Stopwatch()
    dist.barrier()
    with watch.loop():
        for _ in range(140):
            loss = head(table(names).flatten(1)).logsumexp(1).mean()
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                flat = torch.cat([each.grad.flatten() for each in parameters])
                dist.all_reduce(flat)
                for each, sums in zip(parameters, flat.split([each.numel() for each in parameters])):
                    each.grad.copy_(sums.view_as(each))
            optimizer.step()
            watch.step()
    if os.environ["RANK"] == "0":
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
