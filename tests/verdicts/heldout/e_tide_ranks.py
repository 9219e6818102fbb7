"""Forecasts tides by two processes with gloo; each has its part of the recorded series.

Planted: the series were sorted by length before they were dealt out in two halves, so rank 0 has the short ones and waits
for rank 1 in each all_reduce().
Truth: time of rank 0 in all_reduce(), of the loop.
"""
import torch
import torch.distributed as dist
from torch import nn

from stopwatch import Stopwatch

HARBOURS, BATCH = 240, 20


class Tide(nn.Module):
    def __init__(self):
        super().__init__()
        self.past, self.head = nn.GRU(6, 72, batch_first=True), nn.Linear(72, 1)

    def forward(self, levels):
        return self.head(self.past(levels)[0]).squeeze(2)


def shard_of(rank, size):
    generator = torch.Generator().manual_seed(1)
    lengths = sorted((24 + 5 * torch.randint(1, 30, (HARBOURS,), generator=generator)).tolist())
    mine = lengths[rank * HARBOURS // size:(rank + 1) * HARBOURS // size]
    return [torch.sin(torch.arange(length)[:, None] * torch.linspace(0.1, 0.6, 6) + number) for number, length in enumerate(mine)]


def flatten(parameters, old):
    """All gradients in one tensor, and at its end whether this rank wants to end."""
    return torch.cat([parameter.grad.flatten() for parameter in parameters] + [torch.tensor([float(old)])])


def main():
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    watch = Stopwatch()
    series = shard_of(rank, size)
    model = Tide()
    parameters = list(model.parameters())
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
    over, at = False, 0
    dist.barrier()
    with watch.loop():
        while not over:
            chosen = [series[(at * 13 + k * 7) % len(series)] for k in range(BATCH)]
            levels = nn.utils.rnn.pad_sequence(chosen, batch_first=True)
            optimizer.zero_grad()
            loss = nn.functional.smooth_l1_loss(model(levels[:, :-1]), levels[:, 1:, 0])
            loss.backward()
            flat = flatten(parameters, watch.seconds() > 6.5)
            with watch.planted():
                dist.all_reduce(flat)
            over = flat[-1].item() > 0
            offset = 0
            for parameter in parameters:
                parameter.grad.copy_(flat[offset:offset + parameter.numel()].view_as(parameter) / size)
                offset += parameter.numel()
            optimizer.step()
            watch.step()
            at += 1
    if rank == 0:
        print(f"loss {loss.item():.4f}")
        watch.tell()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
