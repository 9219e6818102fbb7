"""Trains while a thread of the same interpreter draws a dashboard in text.

Planted: the thread computes in plain Python most of the time, and the loop waits for the interpreter's lock.
Truth: time in which the loop's thread did not run, as a share of the loop.
"""
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def draw(losses, ended):
    while not ended.is_set():
        for _ in range(25):
            "\n".join("".join("#" if loss * 24 > row else " " for loss in losses[-120:]) for row in range(24))
        ended.wait(0.012)


def main():
    torch.manual_seed(43)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(200, 300), nn.ReLU(), nn.Linear(300, 300), nn.ReLU(), nn.Linear(300, 1))
    optimizer, watch = torch.optim.SGD(model.parameters(), lr=0.01), Stopwatch()
    losses, ended, noise = [0.5] * 120, threading.Event(), torch.rand(2000, 200)
    thread = threading.Thread(target=draw, args=(losses, ended))
    thread.start()
    with watch.loop():
        cpu_before = time.thread_time()
        while watch.seconds() < 6:
            loss = model(noise).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            watch.step()
        cpu_s = time.thread_time() - cpu_before
    ended.set()
    thread.join()
    print(f"loss {losses[-1]:.4f}")
    watch.tell(1 - cpu_s / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
