"""Learns to rank hotels, while a thread of its own looks at the weights.

Planted: the thread holds the model's lock while it sorts all weights, and the loop waits for the lock to update them.
Truth: time of waiting for the lock, as a share of the loop.
"""
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch


class Inspector(threading.Thread):
    def __init__(self, model, lock):
        super().__init__(daemon=True)
        self.model, self.lock, self.quantiles, self.ended = model, lock, None, threading.Event()

    @torch.no_grad()
    def run(self):
        while not self.ended.is_set():
            with self.lock:
                weights = torch.cat([each.flatten() for each in self.model.parameters()]).sort().values
                self.quantiles = weights[:: len(weights) // 4].clone()
            time.sleep(0.012)


def main():
    torch.manual_seed(207)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(300, 500), nn.ReLU(), nn.Linear(500, 400), nn.ReLU(), nn.Linear(400, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    hotels, lock, watch = torch.randn(5000, 300), threading.Lock(), Stopwatch()
    inspector = Inspector(model, lock)
    inspector.start()
    with watch.loop():
        while watch.seconds() < 3.2:
            first, second = hotels[torch.randint(5000, (2, 160))]
            loss = nn.functional.softplus(model(second) - model(first)).mean()
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                lock.acquire()
            optimizer.step()
            lock.release()
            watch.step()
    inspector.ended.set()
    inspector.join()
    print(f"loss {loss.item():.3f}, quantiles {inspector.quantiles.tolist()}")
    watch.tell()


if __name__ == "__main__":
    main()
