"""Trains a recommender while a pool of four processes computes tomorrow's features.

Planted: the pool and the loop want more processors than the machine of two cores has.
Truth: time that the loop's thread did not run although it never waits for anything, as a share of the loop.
"""
import math
import multiprocessing
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def compute_features(user):
    value = 0.0
    while True:
        for item in range(200_000):
            value += math.sqrt(user * item + 1) % 1.7
        user += 1


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.users = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 128))
        self.items = nn.Sequential(nn.Linear(96, 512), nn.ReLU(), nn.Linear(512, 128))

    def forward(self, users, items):
        return self.users(users) @ self.items(items).T


def main():
    torch.manual_seed(14)
    torch.set_num_threads(1)
    context = multiprocessing.get_context("spawn")
    pool = [context.Process(target=compute_features, args=(user,), daemon=True) for user in range(4)]
    for process in pool:
        process.start()
    time.sleep(1)
    model = Towers()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch = Stopwatch()
    ran = time.thread_time()
    with watch.loop():
        while watch.seconds() < 9:
            users, items = torch.randn(384, 128), torch.randn(384, 96)
            loss = nn.functional.cross_entropy(model(users, items), torch.arange(384))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    ran = time.thread_time() - ran
    for process in pool:
        process.terminate()
        process.join()
    print(f"loss {loss.item():.3f}")
    watch.tell(1 - ran / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
