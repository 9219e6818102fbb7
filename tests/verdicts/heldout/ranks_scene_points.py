"""Segments clouds of points on two ranks, which average their gradients.

Planted: scenes are sorted by size and split in the middle, so rank 0 has the small ones and waits for rank 1.
Truth: time of rank 0 in all_reduce(), of its loop.
"""
import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch

CLASSES = 8


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.local = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
        self.head = nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, CLASSES))

    def forward(self, points):
        x = self.local(points)
        return self.head(torch.cat([x, x.amax(0, keepdim=True).expand_as(x)], 1))


def scenes(rank, count=80):
    sizes = sorted(torch.randint(1500, 9000, (count,), generator=torch.Generator().manual_seed(5)).tolist())
    half = count // 2
    for size in sizes[rank * half:(rank + 1) * half]:
        points = torch.randn(size, 6)
        yield points, (points[:, 0] * 2 + points[:, 3]).abs().long() % CLASSES


def average(parameters, stop, watch):
    """Of the gradients of both ranks, in one buffer; and whether one of them wants to stop."""
    flat = torch.cat([p.grad.flatten() for p in parameters] + [torch.tensor([float(stop)])])
    with watch.planted():
        dist.all_reduce(flat)
    at = 0
    for p in parameters:
        p.grad.copy_(flat[at:at + p.numel()].view_as(p)).div_(dist.get_world_size())
        at += p.numel()
    return flat[-1].item() > 0


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = PointNet()
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=1e-3)
    own = list(scenes(rank))
    watch, stop = Stopwatch(), False
    dist.barrier()
    with watch.loop():
        while not stop:
            points, labels = own[int(torch.randint(len(own), ()))]
            loss = nn.functional.cross_entropy(model(points), labels)
            optimizer.zero_grad()
            loss.backward()
            stop = average(parameters, watch.seconds() > 6.5, watch)
            optimizer.step()
            watch.step()
    if rank == 0:
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
