"""Estimates the harvest of salt pans from weather, two processes with gloo: a residual network, equal batches for both.

Planted: the gradients are averaged tensor by tensor, three dozen small reductions in each step, where one would do.
Truth: time of the first process in all_reduce(), without what one reduction of everything takes, of its loop.
"""
import time

import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch

watch = Stopwatch()


class Basin(nn.Module):
    def __init__(self, wide):
        super().__init__()
        self.norm = nn.LayerNorm(wide)
        self.mix = nn.Linear(wide, wide)

    def forward(self, x):
        return x + torch.tanh(self.mix(self.norm(x)))


def average(model):
    ranks = dist.get_world_size()
    for p in model.parameters():
        with watch.planted():
            dist.all_reduce(p.grad)
        p.grad /= ranks


def one_reduction(model):
    flat = torch.zeros(sum(p.numel() for p in model.parameters()))
    times = []
    for _ in range(20):
        dist.barrier()
        began = time.perf_counter()
        dist.all_reduce(flat)
        times.append(time.perf_counter() - began)
    return sorted(times)[10]


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(10, 256), *[Basin(256) for _ in range(8)], nn.Linear(256, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, foreach=True)
    generator = torch.Generator().manual_seed(20 + dist.get_rank())
    single = one_reduction(model)
    with watch.loop():
        over = False
        while not over:
            weather = torch.rand(512, 10, generator=generator)
            salt = weather[:, :3].sum(1, keepdim=True) - weather[:, 4:5]
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(weather), salt)
            loss.backward()
            average(model)
            optimizer.step()
            watch.step()
            if len(watch.marks) % 10 == 0:
                flag = torch.tensor([float(watch.seconds() > 6)])
                dist.broadcast(flag, 0)
                over = bool(flag)
    if dist.get_rank() == 0:
        print(f"loss {loss.item():.4f}")
        needed = single * len(watch.marks)
        watch.tell((watch.planted_s - needed) / (watch.ended - watch.began), one_reduction_ms=round(1e3 * single, 2))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
