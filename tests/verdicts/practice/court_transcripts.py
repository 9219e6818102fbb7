"""Summarises transcripts of a court; most are short.

Planted: one batch in nine holds a long transcript, and its step takes many times as long.
Truth: what these steps take longer than the median, as a share of the loop.
"""
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(103)
    torch.set_num_threads(1)
    layer = nn.TransformerEncoderLayer(96, 4, 192, batch_first=True, dropout=0.0)
    head = nn.Linear(96, 50)
    optimizer = torch.optim.SGD([*layer.parameters(), *head.parameters()], lr=0.01)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.8:
            length = 384 if len(watch.marks) % 9 == 4 else 96 + len(watch.marks) % 3 * 8
            words = torch.randn(4, length, 96)
            loss = head(layer(words)).logsumexp(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    times = watch.step_times()
    middle = statistics.median(times)
    print(f"loss {loss.item():.3f}")
    watch.tell(sum(max(time - middle, 0) for time in times[4::9]) / sum(times))


if __name__ == "__main__":
    main()
