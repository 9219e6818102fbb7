"""Estimates the power of mill wheels, while threads compare all wheels with each other.

Planted: as many threads as there are cores compute products of matrices all the time.
Truth: 1 - (CPU time of the loop's thread / time of the loop): the loop uses one thread, so it waits for a core or for Python.
"""
import os
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def compare(wheels, ended):
    while not ended.is_set():
        (wheels @ wheels.t()).argmax()


def main():
    torch.manual_seed(197)
    torch.set_num_threads(1)
    ended = threading.Event()
    wheels = torch.randn(1400, 700)
    threads = [threading.Thread(target=compare, args=(wheels, ended)) for _ in range(os.cpu_count())]
    model = nn.Sequential(nn.Linear(120, 350), nn.ReLU(), nn.Linear(350, 350), nn.ReLU(), nn.Linear(350, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    shapes, power, watch = torch.randn(1600, 120), torch.randn(1600, 1), Stopwatch()
    for thread in threads:
        thread.start()
    with watch.loop():
        used_s = time.thread_time()
        while watch.seconds() < 3.6:
            loss = nn.functional.mse_loss(model(shapes), power)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
        used_s = time.thread_time() - used_s
    ended.set()
    for thread in threads:
        thread.join()
    print(f"loss {loss.item():.3f}")
    watch.tell(1 - used_s / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
