"""Two ranks learn when ships arrive, with DistributedDataParallel.

Planted: rank 1 waits for its storage in each step, and rank 0 waits for rank 1 when gradients are averaged.
Truth: by how much rank 0's backward passes take longer than rank 1's, as a share of the loop.
"""
import time

import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(31)
    torch.set_num_threads(1)
    rank = dist.get_rank()
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(300, 500), nn.ReLU(), nn.Linear(500, 24)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    ships, watch = torch.rand(500, 300, generator=torch.Generator().manual_seed(rank)), Stopwatch()
    dist.barrier()
    with watch.loop():
        for _ in range(300):
            if rank == 1:
                time.sleep(0.008)
            loss = model(ships).logsumexp(1).mean()
            optimizer.zero_grad()
            with watch.planted():
                loss.backward()
            optimizer.step()
            watch.step()
    mine = torch.tensor([watch.planted_s])
    backward_s = [torch.zeros(1) for _ in range(2)]
    dist.all_gather(backward_s, mine)
    if rank == 0:
        watch.tell((backward_s[0] - backward_s[1]).item() / (watch.ended - watch.began))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
