"""Learns to read water meters while eight threads watch the machine.

Decoy: the threads wake twenty times in a second and read a file of /proc, which takes a moment.
Truth: processor time of the watching threads, as a share of the loop.
"""
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

ended = threading.Event()
used = []


def watch_machine():
    while not ended.wait(0.4):
        with open("/proc/self/statm", encoding="ascii") as file:
            file.read()
    used.append(time.thread_time())


def main():
    torch.manual_seed(22)
    watch = Stopwatch()
    model = nn.Sequential(nn.Linear(900, 1600), nn.ReLU(), nn.Linear(1600, 1600), nn.ReLU(), nn.Linear(1600, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    meters, digits = torch.rand(256, 900), torch.arange(256) % 10
    threads = [threading.Thread(target=watch_machine) for _ in range(8)]
    for thread in threads:
        thread.start()
    with watch.loop():
        while watch.seconds() < 5:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(meters), digits).backward()
            optimizer.step()
            watch.step()
    ended.set()
    for thread in threads:
        thread.join()
    watch.tell(share=sum(used) / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
