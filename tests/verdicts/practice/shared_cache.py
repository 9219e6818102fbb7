"""Trains a ranking model with features from a cache file that another process of the machine changes.

Planted: a lock of the file is wanted in each step, which the other process holds for most of the time.
Truth: time of waiting for the lock, as a share of the loop.
"""
import fcntl
import multiprocessing
import time

import torch
from torch import nn

from stopwatch import Stopwatch

FEATURES = 200


def change_cache(path, ended):
    while not ended.is_set():
        with open(path, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            time.sleep(0.04)
            fcntl.flock(file, fcntl.LOCK_UN)
        time.sleep(0.006)


def main():
    torch.manual_seed(13)
    watch, path = Stopwatch(), "cache.bin"
    with open(path, "wb") as file:
        file.write(torch.rand(256 * FEATURES).numpy().tobytes())
    context = multiprocessing.get_context("fork")
    ended = context.Event()
    other = context.Process(target=change_cache, args=(path, ended), daemon=True)
    other.start()
    model = nn.Sequential(nn.Linear(FEATURES, 1600), nn.ReLU(), nn.Linear(1600, 1600), nn.ReLU(), nn.Linear(1600, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    with open(path, "rb") as cache, watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                fcntl.flock(cache, fcntl.LOCK_SH)
            cache.seek(0)
            rows = torch.frombuffer(bytearray(cache.read()), dtype=torch.float32).view(256, FEATURES)
            fcntl.flock(cache, fcntl.LOCK_UN)
            scores = model(rows)
            loss = nn.functional.margin_ranking_loss(scores[:128], scores[128:], torch.ones(128, 1), margin=0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    watch.tell()
    ended.set()
    other.join()


if __name__ == "__main__":
    main()
