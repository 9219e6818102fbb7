"""Forecasts how full ferries are, on two processes with gloo: each has the sailings of its own harbour, gradients are averaged.

Planted: the second harbour's sailings have far more stops, padded to its longest, so the first process waits for it in each step.
Truth: time of the first process in all_reduce(), of its loop; the reduction alone takes a small part of it.
"""
import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch

watch = Stopwatch()


class Loads(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.Linear(12, 96)
        self.along = nn.GRU(96, 96, batch_first=True)
        self.full = nn.Linear(96, 1)

    def forward(self, sailings):
        states, _ = self.along(torch.relu(self.read(sailings)))
        return self.full(states[:, -1]).squeeze(1)


def average(model):
    flat = torch.cat([p.grad.flatten() for p in model.parameters()])
    with watch.planted():
        dist.all_reduce(flat)
    flat /= dist.get_world_size()
    at = 0
    for p in model.parameters():
        p.grad.copy_(flat[at:at + p.numel()].view_as(p))
        at += p.numel()


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(1)  # the same weights on both
    model = Loads()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(40 + dist.get_rank())
    stops = [14, 26][dist.get_rank()]
    with watch.loop():
        over = torch.zeros(1)
        while not over.item():
            sailings = torch.rand(48, stops, 12, generator=generator)
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(sailings), sailings[:, :, 0].mean(1))
            loss.backward()
            average(model)
            optimizer.step()
            watch.step()
            if len(watch.marks) % 20 == 0:  # both end together
                over.fill_(float(watch.seconds() > 6))
                dist.broadcast(over, 0)
    if dist.get_rank() == 0:
        print(f"loss {loss.item():.4f}")
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
