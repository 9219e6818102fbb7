"""Continues a diary, with a memory of all days.

Planted: a step compares its day with all days before, so that steps take longer and longer.
Truth: time of the memory beyond its first steps, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(107)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    days, watch, known = torch.randn(60000, 256), Stopwatch(), 0
    with watch.loop():
        while watch.seconds() < 3.6 and known < 59000:
            day = model(days[known: known + 120])
            with watch.planted():
                nearest = (days[:known + 120] @ day.detach()[:24].t()).argmax(0)
            loss = (day[:24] - days[nearest]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            known += 30
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
