"""Predicts how full night trains are, while helpers wait for orders.

Decoy: a thread waits for a queue that stays empty, and another one for a lock of its own; the loop needs neither.
Truth: time of looking at the queue, as a share of the loop.
"""
import queue
import threading

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(163)
    torch.set_num_threads(1)
    orders, lock = queue.Queue(), threading.Lock()
    lock.acquire()
    helpers = [threading.Thread(target=orders.get, daemon=True), threading.Thread(target=lock.acquire, daemon=True)]
    for helper in helpers:
        helper.start()
    model = nn.Sequential(nn.Linear(120, 320), nn.ReLU(), nn.Linear(320, 320), nn.ReLU(), nn.Linear(320, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    trains, seats, watch = torch.randn(1800, 120), torch.randn(1800, 1), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            with watch.planted():
                orders.empty()
            loss = nn.functional.mse_loss(model(trains), seats)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    orders.put(None)
    lock.release()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
