"""Trains a captcha reader beside threads that report that the job lives.

Decoy of waiting and of locks: eight threads sleep or wait all the time, and share a lock with the loop, but the
loop never waits for them.
Truth: time of taking the lock, as a share of the loop.
"""
import queue
import threading

import torch
from torch import nn

from stopwatch import Stopwatch


class Status:
    def __init__(self):
        self.lock, self.done, self.step = threading.Lock(), threading.Event(), 0

    def beat(self):
        while not self.done.wait(0.25):
            with self.lock:
                self.step = max(self.step, 0)


def serve(requests):
    while requests.get() is not None:
        pass


def main():
    torch.manual_seed(33)
    status, requests = Status(), queue.Queue()
    threads = [threading.Thread(target=status.beat) for _ in range(4)]
    threads += [threading.Thread(target=serve, args=(requests,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    model = nn.Sequential(nn.Conv2d(1, 24, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(24, 64, 3, padding=1), nn.ReLU(),
                          nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64 * 8 * 24, 128), nn.ReLU(), nn.Linear(128, 36))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images, letters = torch.rand(400, 1, 32, 96), torch.randint(36, (400,))
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 9:
            chosen = torch.randint(400, (32,))
            loss = nn.functional.cross_entropy(model(images[chosen]), letters[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted(), status.lock:
                status.step += 1
            watch.step()
    status.done.set()
    for _ in range(4):
        requests.put(None)
    for thread in threads:
        thread.join()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
