"""Foretells what each stall of a market sells tomorrow: a deep and narrow mixer with a head for each trade.

Planted: AdamW updates the two hundred small tensors one by one, as torch.optim does on a CPU unless foreach or fused is asked for.
Truth: time of optimizer.step() less what the fused one takes for the same tensors, of the loop.
"""
import copy
import statistics
import time

import torch
from torch import nn

from stopwatch import Stopwatch

STALLS, DAYS, TRADES = 9, 28, 20
watch = Stopwatch()


class Mix(nn.Module):
    """Between the days, then between the features of a stall."""

    def __init__(self, width):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.days = nn.Linear(DAYS, DAYS)
        self.features = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))

    def forward(self, x):
        x = x + self.days(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        return x + self.features(self.norms[1](x))


class Market(nn.Module):
    def __init__(self, width=40, depth=16):
        super().__init__()
        self.enter = nn.Linear(3, width)
        self.body = nn.Sequential(*[Mix(width) for _ in range(depth)])
        self.trades = nn.ModuleList([nn.Linear(width, 1) for _ in range(TRADES)])

    def forward(self, days):
        inner = self.body(self.enter(days)).mean(1)
        return torch.cat([trade(inner) for trade in self.trades], 1)


def fused_time(model):
    """Of one step of the fused optimizer."""
    twin = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(twin.parameters(), lr=1e-3, fused=True)
    times = []
    for weight in twin.parameters():
        weight.grad = torch.ones_like(weight)
    for _ in range(20):
        began = time.perf_counter()
        optimizer.step()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(17)
    model = Market()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.02)
    days = torch.randn(32, STALLS, DAYS, 3).cumsum(2) / 4
    sold = days[:, :, -7:, 0].mean(2, keepdim=True) * torch.rand(TRADES)
    with watch.loop():
        while watch.seconds() < 6.5:
            week = len(watch.marks) % 32
            loss = nn.functional.mse_loss(model(days[week]), sold[week])
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    watch.planted_s -= len(watch.marks) * fused_time(model)
    print(f"loss {loss.item():.4f}, {len(list(model.parameters()))} tensors")
    watch.tell()


main()
