"""Imitates a pilot who flies a drone with legs: a network of dilated convolutions over the last movements, DistributedDataParallel on two ranks.

Planted: each ninth step rank 0 alone flies the trial course with the new weights, and the other rank waits for it in its next gradients.
Truth: time of the trial course, of the loop, on rank 0.
"""
import contextlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from stopwatch import Stopwatch

SENSORS, MOTORS, MOMENTS, BATCH, TRIAL = 14, 6, 64, 32, 84


def block(width, dilation):
    return nn.Sequential(nn.Conv1d(width, width, 3, padding=dilation, dilation=dilation), nn.GroupNorm(4, width), nn.GELU())


class Pilot(nn.Module):
    def __init__(self, width=72):
        super().__init__()
        self.sense = nn.Conv1d(SENSORS, width, 1)
        self.blocks = nn.ModuleList(block(width, 2 ** i) for i in range(4))
        self.steer = nn.Linear(width, MOTORS)

    def forward(self, moments):
        state = self.sense(moments)
        for each in self.blocks:
            state = state + each(state)
        return self.steer(state[:, :, -1])


@torch.no_grad()
def fly(pilot, seed):
    """The course: the pilot steers eight drones, each movement changes what the next ones sense."""
    wind = torch.Generator().manual_seed(seed)
    window = torch.zeros(8, SENSORS, MOMENTS)
    away = 0.0
    pilot.eval()
    for _ in range(TRIAL):
        motors = torch.tanh(pilot(window))
        sensed = 0.9 * window[:, :, -1] + 0.05 * torch.randn(8, SENSORS, generator=wind)
        sensed[:, :MOTORS] += 0.1 * motors
        window = torch.cat([window[:, :, 1:], sensed[:, :, None]], 2)
        away += sensed.square().mean().item()
    pilot.train()
    return away / TRIAL


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(8)
    rank, watch = dist.get_rank(), Stopwatch()
    pilot = DistributedDataParallel(Pilot())
    optimizer = torch.optim.AdamW(pilot.parameters(), lr=2e-4, fused=True)
    draw = torch.Generator().manual_seed(rank)
    movements = torch.randn(24, BATCH, SENSORS, MOMENTS, generator=draw)
    commands = torch.tanh(movements[:, :, :MOTORS, -8:].mean(3))
    away, going, number = 0.0, True, 0
    with watch.loop():
        while going:
            loss = nn.functional.mse_loss(pilot(movements[number % 24]), commands[number % 24])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            number += 1
            if rank == 0 and number % 9 == 0:
                with watch.planted():
                    away = fly(pilot.module, number)
            watch.step()
            if number % 20 == 0:
                late = torch.tensor([watch.seconds()])
                dist.broadcast(late, 0)
                going = late.item() < 6
    if rank == 0:
        print(f"loss {loss.item():.4f}, away {away:.4f}")
        watch.tell()
    with contextlib.suppress(RuntimeError):
        dist.destroy_process_group()


main()
