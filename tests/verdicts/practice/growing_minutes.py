"""Reads the minutes of a council; what was read stays in view.

Planted: each step attends to all that was read before, so that steps become longer and longer.
Truth: what the steps take more than the first tenth of them does, as a share of the loop.
"""
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(224)
    torch.set_num_threads(1)
    query, key, value, head = nn.Linear(128, 128), nn.Linear(128, 128), nn.Linear(128, 128), nn.Linear(128, 128)
    optimizer = torch.optim.SGD([*query.parameters(), *key.parameters(), *value.parameters(), *head.parameters()], lr=0.01)
    minutes, watch = torch.randn(400 * 12 + 1500, 128), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.6 and len(watch.marks) < 400:
            end = 1500 + 12 * len(watch.marks)
            read, now = minutes[:end], minutes[max(0, end - 96):end]
            scores = query(now) @ key(read).T / 128 ** 0.5
            seen = scores.softmax(-1) @ value(read)
            loss = nn.functional.mse_loss(head(seen)[:-1], now[1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    times = watch.step_times()
    first = statistics.median(times[2:len(times) // 10])
    watch.tell(1 - first * len(times) / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
