"""Two ranks average gradients of a network; their shards differ.

Planted: the items of rank 1 are three times as many per batch, so rank 0 waits for it in each step.
Truth: what rank 1's part takes longer than rank 0's, as a share of the loop.
"""
import os

import torch
from torch import distributed, nn

from stopwatch import Stopwatch


def main():
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    rank = distributed.get_rank()
    torch.manual_seed(12)
    watch = Stopwatch()
    model = nn.Sequential(nn.Linear(256, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 16))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    items = torch.randn(768 if rank else 256, 256)
    own_s = 0.0
    distributed.barrier()
    with watch.loop():
        for _ in range(400):
            before = watch.seconds()
            optimizer.zero_grad()
            nn.functional.mse_loss(model(items), items[:, :16]).backward()
            own_s += watch.seconds() - before
            gradients = torch.cat([weights.grad.flatten() for weights in model.parameters()])
            late = torch.tensor([float(watch.seconds() > 6)])
            distributed.all_reduce(gradients)
            distributed.all_reduce(late)
            at = 0
            for weights in model.parameters():
                weights.grad.copy_(gradients[at:at + weights.numel()].view_as(weights)).div_(2)
                at += weights.numel()
            optimizer.step()
            watch.step()
            if late.item():
                break
    times = [torch.zeros(1) for _ in range(2)]
    distributed.all_gather(times, torch.tensor([own_s]))
    if rank == 0:
        watch.tell(share=(times[1] - times[0]).item() / (watch.ended - watch.began))
    distributed.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
