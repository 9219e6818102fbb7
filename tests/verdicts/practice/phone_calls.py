"""Recognises moods in phone calls; most calls are short, and some are very long.

Planted: one batch in eleven holds calls that are ten times longer.
Truth: what these batches take more than the median step, as a share of the loop.
"""
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(225)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv1d(20, 32, 9, stride=2), nn.ReLU(), nn.Conv1d(32, 48, 9, stride=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1),
                          nn.Flatten(), nn.Linear(48, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    short, long, watch = torch.randn(200, 20, 200), torch.randn(40, 20, 2000), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.6:
            calls = long if len(watch.marks) % 11 == 7 else short
            chosen = torch.randint(len(calls), (40,))
            loss = nn.functional.cross_entropy(model(calls[chosen]), chosen % 5)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    times = watch.step_times()
    usual = statistics.median(times)
    watch.tell(sum(each - usual for each in times[7::11]) / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
