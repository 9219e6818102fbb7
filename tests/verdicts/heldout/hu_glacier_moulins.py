"""Predicts when a moulin in a glacier opens, from tremors of different duration: two ranks with gloo, each trains on its half of the records.

Planted: the records are sorted by duration and each rank takes one half of the list, so that the second has all the long ones.
Truth: time of the first rank in the reduction of the gradients, where it waits for the second, of its loop.
"""
import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch

CHANNELS, WIDTH, BATCH = 16, 128, 20


class Records:
    """Tremors of one rank; those of a batch have the same duration."""

    def __init__(self, rank, ranks):
        durations = sorted(20 + 11 * number % 53 for number in range(64))
        share = len(durations) // ranks
        self.durations = durations[rank * share:(rank + 1) * share]
        draw = torch.Generator().manual_seed(40 + rank)
        self.order = torch.Generator().manual_seed(8)
        self.tremors = [torch.randn(BATCH, duration, CHANNELS, generator=draw) for duration in self.durations]

    def batch(self):
        tremor = self.tremors[torch.randint(len(self.tremors), (), generator=self.order)]
        return tremor, tremor[:, :, 0].abs().mean(1)


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Linear(CHANNELS, WIDTH)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(WIDTH, 4, 256, dropout=0.0, batch_first=True) for _ in range(2))
        self.opens = nn.Linear(WIDTH, 1)

    def forward(self, tremor):
        heard = self.lift(tremor)
        for block in self.blocks:
            heard = block(heard)
        return self.opens(heard.mean(1)).squeeze(1)


class Averager:
    def __init__(self, model, watch):
        self.parameters, self.watch = list(model.parameters()), watch
        self.flat = torch.zeros(sum(parameter.numel() for parameter in self.parameters))
        for parameter in self.parameters:
            dist.broadcast(parameter.data, 0)

    def __call__(self):
        parts = self.flat.split([parameter.numel() for parameter in self.parameters])
        for part, parameter in zip(parts, self.parameters):
            part.copy_(parameter.grad.flatten())
        with self.watch.planted():
            dist.all_reduce(self.flat)
        self.flat.div_(dist.get_world_size())
        for part, parameter in zip(parts, self.parameters):
            parameter.grad.copy_(part.view_as(parameter))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    records, model, watch = Records(rank, dist.get_world_size()), Listener(), Stopwatch()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4, fused=True)
    average = Averager(model, watch)
    over = torch.zeros(1)
    dist.barrier()
    with watch.loop():
        while not over.item():
            for _ in range(8):
                tremor, opening = records.batch()
                loss = nn.functional.mse_loss(model(tremor), opening)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                average()
                optimizer.step()
                watch.step()
            over.fill_(float(watch.seconds() > 6))
            dist.broadcast(over, 0)
    if rank == 0:
        print(f"loss {loss.item():.4f}")
        watch.tell()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
