"""Two ranks count animals on islands; one island has more of them.

Planted: rank 1 works on a larger batch in each step, so that rank 0 waits for it when losses and gradients are added up.
Truth: time that rank 0 needs for adding up losses, as a share of the loop; it waits in the backward pass besides.
"""
import os

import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(113)
    torch.set_num_threads(1)
    rank = dist.get_rank()
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(200, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    animals, own, watch = torch.randn(1600 if rank else 700, 200), torch.zeros(1), Stopwatch()
    dist.barrier()
    with watch.loop():
        for _ in range(200):
            loss = model(animals).logsumexp(1).mean()
            own[0] = loss.item()
            with watch.planted():
                dist.all_reduce(own)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    if os.environ["RANK"] == "0":
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
