"""Learns to navigate with an episodic memory: each state is compared with all states so far.

Planted: the memory grows in each step, and so does the time to search it.
Truth: time of the steps above the median of the first tenth of them, as a share of the loop.
"""
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(62)
    encoder = nn.Sequential(nn.Linear(48, 1024), nn.ReLU(), nn.Linear(1024, 32))
    policy = nn.Linear(64, 6)
    optimizer = torch.optim.SGD([*encoder.parameters(), *policy.parameters()], lr=0.01)
    memory, filled = torch.zeros(24_000, 32), 0
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.5 and filled + 128 <= len(memory):
            states = encoder(torch.randn(128, 48))
            memory[filled:filled + 128] = states.detach()
            filled += 128
            attention = (states @ memory[:filled].T / 6).softmax(1)
            scores = policy(torch.cat([states, attention @ memory[:filled]], 1))
            loss = nn.functional.cross_entropy(scores, torch.arange(128) % 6)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    times = watch.step_times()
    early = statistics.median(times[2:max(4, len(times) // 10)])
    print(f"loss {loss.item():.3f} with {filled} states")
    watch.tell(sum(time - early for time in times[2:]) / (watch.ended - watch.began), early_ms=round(1e3 * early, 2),
               late_ms=round(1e3 * statistics.median(times[-max(2, len(times) // 10):]), 2))


if __name__ == "__main__":
    main()
