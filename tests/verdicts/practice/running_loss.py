"""Learns demand from calendars, and prints the mean loss of the epoch at its end.

Planted: the running sum is made of losses with their graphs, so each step's activations stay in memory.
Truth: growth of the process's resident memory during the loop, of its largest value.
"""
import resource

import torch
from torch import nn

from stopwatch import Stopwatch


def resident_bytes():
    with open("/proc/self/statm", encoding="utf-8") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Demand(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(120, 400), nn.Softplus(), nn.Linear(400, 400), nn.Softplus())
        self.head = nn.Linear(400, 24)

    def forward(self, days):
        return self.head(self.body(days))


def main():
    torch.manual_seed(60)
    model = Demand()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch, running = Stopwatch(), 0.0
    before = resident_bytes()
    with watch.loop():
        while watch.seconds() < 3 and len(watch.marks) < 250:
            days, demand = torch.randn(512, 120), torch.rand(512, 24)
            smooth = model(days).sigmoid()
            loss = nn.functional.mse_loss(smooth, demand)
            penalty = (smooth[:, 1:] - smooth[:, :-1]).abs().mean()
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()
            running = running + loss + 0.1 * penalty
            watch.step()
    after = resident_bytes()
    print(f"mean loss {float(running) / len(watch.marks):.3f}")
    watch.tell((after - before) / after, growth_mb=round((after - before) / 1e6))


if __name__ == "__main__":
    main()
