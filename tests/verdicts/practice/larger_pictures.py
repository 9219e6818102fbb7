"""Classifies flowers, first on small pictures and later on larger ones.

Planted: after two fifths of the time pictures have 48 points a side and no longer 32.
Truth: time of the later steps above the earlier ones' median, as a share of the loop.
"""
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch

SECONDS = 3.3


def main():
    torch.manual_seed(63)
    model = nn.Sequential(nn.Conv2d(3, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(192, 17))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    flowers = torch.rand(200, 3, 64, 64)
    watch, changed = Stopwatch(), 0
    with watch.loop():
        while watch.seconds() < SECONDS:
            late = watch.seconds() > 0.4 * SECONDS
            if late and not changed:
                changed = len(watch.marks)
            side = 48 if late else 32
            place = 16 * (len(watch.marks) % 12)
            pictures = nn.functional.interpolate(flowers[place:place + 16], size=side)
            loss = nn.functional.cross_entropy(model(pictures), torch.arange(16))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    times = watch.step_times()
    usual = statistics.median(times[3:changed])
    print(f"loss {loss.item():.3f}")
    watch.tell(sum(time - usual for time in times[changed:]) / (watch.ended - watch.began), before_ms=round(1e3 * usual, 2),
               after_ms=round(1e3 * statistics.median(times[changed:]), 2))


if __name__ == "__main__":
    main()
