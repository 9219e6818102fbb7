"""Trains a wide MLP on two ranks, which average their gradients by hand after the backward pass.

Planted: 50 MB of gradients travel in each step of a small batch. The ranks have equal work.
Truth: time of the all-reduces on rank 0, as a share of the loop.
Run: torchrun with two processes.
"""
import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch


def average_gradients(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(16)
    model = nn.Sequential(nn.Linear(512, 3072), nn.ReLU(), nn.Linear(3072, 3072), nn.ReLU(), nn.Linear(3072, 512))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch = Stopwatch()
    dist.barrier()
    with watch.loop():
        for _ in range(90):
            inputs = torch.randn(64, 512)
            loss = nn.functional.mse_loss(model(inputs), inputs)
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                average_gradients(model)
            optimizer.step()
            watch.step()
    dist.barrier()
    if dist.get_rank() == 0:
        print(f"loss {loss.item():.4f}")
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
