"""Flow of traffic at two crossings: each of two ranks has the counters of one crossing, and both train the same network
of many small blocks over gloo.

Planted: the gradients of 123 small parameters are exchanged one by one, each with an all_reduce() that is waited for.
Truth: on rank 0, time of these exchanges, of the loop.
"""
import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch

COUNTERS, WIDE, BLOCKS, BATCH = 32, 80, 20, 1536


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDE)
        self.up = nn.Linear(WIDE, WIDE)
        self.down = nn.Linear(WIDE, WIDE)

    def forward(self, flow):
        return flow + 0.1 * self.down(torch.relu(self.up(self.norm(flow))))


class Crossing(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(COUNTERS, WIDE)
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.leave = nn.Linear(WIDE, COUNTERS, bias=False)

    def forward(self, counts):
        return self.leave(self.blocks(self.enter(counts)))


def average(model, watch):
    with watch.planted():
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= dist.get_world_size()


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(10)
    watch, model = Stopwatch(), Crossing()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=True)
    torch.manual_seed(dist.get_rank())
    hours = torch.randn(12, BATCH, COUNTERS)
    over = torch.zeros(1)
    dist.barrier()
    with watch.loop():
        while not over:
            counts = hours[len(watch.marks) % len(hours)]
            optimizer.zero_grad()
            loss = nn.functional.huber_loss(model(counts), counts.roll(1, 1))
            loss.backward()
            average(model, watch)
            optimizer.step()
            watch.step()
            if len(watch.marks) % 5 == 0:
                over[0] = float(watch.seconds() > 6)
                dist.broadcast(over, 0)
    if dist.get_rank() == 0:
        watch.tell(loss=round(loss.item(), 4))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
