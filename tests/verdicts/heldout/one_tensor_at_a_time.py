"""Two ranks learn which wells run dry.

Planted: gradients are averaged by hand, with an all-reduce of its own for each of 16 tensors.
Truth: the first rank's time of averaging, of the loop.
"""
import os

import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch

BATCH, WIDTH, BLOCKS, MEASURES = 320, 384, 6, 48


class Wells(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(MEASURES, WIDTH)
        self.blocks = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(BLOCKS))
        self.dry = nn.Linear(WIDTH, 1)

    def forward(self, measures):
        x = torch.relu(self.enter(measures))
        for block in self.blocks:
            x = torch.relu(block(x)) + 0.5 * x
        return self.dry(x)[:, 0]


def same_weights(model):
    for param in model.parameters():
        dist.broadcast(param.data, src=0)


def average_gradients(model, ranks):
    for param in model.parameters():
        dist.all_reduce(param.grad)
        param.grad /= ranks


def time_is_up(watch):
    """The first rank decides for all."""
    up = torch.tensor(float(watch.seconds() > 6))
    dist.broadcast(up, src=0)
    return bool(up)


def share_of_wells(rank, count=30):
    generator = torch.Generator().manual_seed(rank)
    measures = torch.randn(count, BATCH, MEASURES, generator=generator)
    return measures, (measures[:, :, :5].sum(2) > 0).float()


def main():
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.manual_seed(41 + rank)
    watch, model = Stopwatch(), Wells()
    same_weights(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.003, momentum=0.9)
    criterion = nn.BCEWithLogitsLoss()
    measures, dry = share_of_wells(rank)
    step = 0
    with watch.loop():
        while True:
            number = step % len(measures)
            loss = criterion(model(measures[number]), dry[number])
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                average_gradients(model, ranks)
            optimizer.step()
            step += 1
            watch.step()
            if step % 10 == 0 and time_is_up(watch):
                break
    if rank == 0:
        print(f"loss {loss.item():.3f} after {step} steps")
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
