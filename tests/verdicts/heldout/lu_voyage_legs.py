"""The fuel that a voyage needs, leg by leg: a recurrent network, two ranks with a fleet each; gradients are averaged with one all_reduce.

Planted: rank 1 has the fleet of the long voyages, so rank 0 waits for it in each all_reduce.
Truth: time of rank 0 in all_reduce, as a share of the loop.
"""
import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch

FEATURES, VOYAGES, LEGS = 16, 96, {0: 26, 1: 46}
watch = Stopwatch()


class Fuel(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.legs = nn.GRU(FEATURES, width, batch_first=True)
        self.fuel = nn.Linear(width, 1)

    def forward(self, legs):
        return self.fuel(self.legs(legs)[0]).squeeze(2).sum(1)


class Fleet:
    """The voyages of one shipping company."""

    def __init__(self, company, count=8):
        draw = torch.Generator().manual_seed(company)
        self.voyages = [torch.rand(VOYAGES, LEGS[company], FEATURES, generator=draw) for _ in range(count)]

    def week(self, number):
        legs = self.voyages[number % len(self.voyages)]
        return legs, legs[:, :, 0].sum(1) * 0.1


def average(model, ranks):
    flat = torch.cat([weight.grad.flatten() for weight in model.parameters()])
    with watch.planted():
        dist.all_reduce(flat)
    flat /= ranks
    at = 0
    for weight in model.parameters():
        weight.grad.copy_(flat[at:at + weight.numel()].view_as(weight))
        at += weight.numel()


def main():
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(30)
    model, fleet = Fuel(), Fleet(rank)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    go_on = torch.ones(1)
    dist.barrier()
    with watch.loop():
        week = 0
        while True:
            legs, fuel = fleet.week(week)
            loss = nn.functional.mse_loss(model(legs), fuel)
            optimizer.zero_grad()
            loss.backward()
            average(model, ranks)
            optimizer.step()
            watch.step()
            week += 1
            if week % 20 == 0:
                go_on.fill_(float(watch.seconds() < 6))
                dist.broadcast(go_on, 0)
                if not go_on.item():
                    break
    if rank == 0:
        print(f"loss {loss.item():.4f}")
        watch.tell()
    dist.destroy_process_group()


main()
