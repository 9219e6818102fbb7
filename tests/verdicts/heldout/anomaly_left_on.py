"""Forecasts the load of a power grid with a deep residual network.

Planted: when a broken reading makes a loss that is not finite, the loop switches on the detection of anomalies, and never off.
Truth: what steps take longer afterwards than before, of the loop.
"""
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch

STATIONS, WIDTH, BLOCKS, BATCH, HOURS = 96, 256, 30, 128, 24


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.mix = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return x + nn.functional.gelu(self.mix(self.norm(x)))


class GridModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(STATIONS, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS)])
        self.leave = nn.Linear(WIDTH, HOURS)

    def forward(self, load):
        return self.leave(self.blocks(self.enter(load)))


class Readings:
    """Loads of all stations; one meter fails once."""

    def __init__(self, watch, fails_after):
        self.watch, self.fails_after = watch, fails_after
        self.load = torch.rand(40, BATCH, STATIONS)
        self.next_day = torch.rand(40, BATCH, HOURS)

    def __iter__(self):
        number = 0
        while True:
            load = self.load[number % 40]
            if self.fails_after and self.watch.seconds() > self.fails_after:
                load, self.fails_after = load.clone(), None
                load[17, 5] = float("nan")
            yield load, self.next_day[number % 40]
            number += 1


def extra_share(watch, steps_before):
    times = watch.step_times()
    usual = statistics.median(times[:steps_before])
    return sum(times[steps_before:]) / sum(times) - usual * (len(times) - steps_before) / sum(times)


def main():
    torch.manual_seed(26)
    watch = Stopwatch()
    model = GridModel()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 200, 0.5)
    switched_at = 0
    with watch.loop():
        for load, next_day in watch.limited(Readings(watch, fails_after=2.2), 6.5):
            loss = nn.functional.mse_loss(model(load), next_day)
            if not torch.isfinite(loss):
                print(f"step {len(watch.marks)}: the loss is {loss.item()}, looking for the operator")
                torch.autograd.set_detect_anomaly(True)
                switched_at = len(watch.marks)
                continue
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            watch.step()
    watch.tell(share=extra_share(watch, switched_at), switched_at=switched_at)


if __name__ == "__main__":
    main()
