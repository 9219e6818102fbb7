"""Trains a trader while threads of the same process simulate markets.

Planted: two threads compute all the time on two cores, and the trainer waits for a core.
Truth: time that the trainer was runnable and had no core, by the kernel, as a share of the loop.
"""
import threading

import numpy as np
import torch
from torch import nn

from stopwatch import Stopwatch


def waited_s():
    """Of this thread, for a core."""
    with open("/proc/thread-self/schedstat", encoding="utf-8") as file:
        return int(file.read().split()[1]) * 1e-9


def simulate(stop, number):
    prices = np.random.default_rng(number).standard_normal(400_000)
    while not stop.is_set():
        prices = np.sin(prices) + 0.1 * np.sqrt(np.abs(prices))


def main():
    torch.manual_seed(125)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(240, 700), nn.ReLU(), nn.Linear(700, 700), nn.ReLU(), nn.Linear(700, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    stop, watch, history = threading.Event(), Stopwatch(), torch.randn(8000, 240)
    markets = [threading.Thread(target=simulate, args=(stop, number)) for number in range(2)]
    for market in markets:
        market.start()
    before = waited_s()
    with watch.loop():
        while watch.seconds() < 3.5:
            days = history[torch.randint(8000, (160,))]
            loss = -(model(days).softmax(1) * days[:, :3]).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    waited = waited_s() - before
    stop.set()
    for market in markets:
        market.join()
    print(f"loss {loss.item():.3f}")
    watch.tell(waited / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
