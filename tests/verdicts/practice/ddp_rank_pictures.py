"""Trains a colouring network with DistributedDataParallel on two ranks.

Planted: rank 0 renders a preview in Python in each step, and rank 1 waits for it in the backward pass.
Truth: time of rendering, of rank 0's loop.
Run: torchrun with two processes.
"""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from stopwatch import Stopwatch


def render(picture):
    lines = []
    for row in picture.tolist():
        lines.append(" ".join(f"{int(255 * min(max(value, 0.0), 1.0)):3d}" for value in row))
    return "P2 64 64 255\n" + "\n".join(lines)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.set_num_threads(1)
    torch.manual_seed(66 + rank)
    model = DistributedDataParallel(nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
                                                  nn.Conv2d(16, 3, 3, padding=1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch, previews = Stopwatch(), 0
    dist.barrier()
    with watch.loop():
        for _ in range(110):
            pictures = torch.rand(8, 3, 64, 64)
            coloured = model(pictures.mean(1, keepdim=True))
            loss = nn.functional.mse_loss(coloured, pictures)
            if rank == 0:
                with watch.planted():
                    for channel in coloured[0].detach():
                        previews += len(render(channel)) > 0
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    if rank == 0:
        print(f"loss {loss.item():.4f}, {previews} previews")
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
