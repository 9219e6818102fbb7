"""Learns to upscale frames that a thread fetches ahead, without torch.utils.data.

Planted: the thread's source answers slower than the network learns, and the loop waits for the queue.
Truth: time in the queue's get(), as a share of the loop.
"""
import queue
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch


class Prefetcher(threading.Thread):
    def __init__(self, count):
        super().__init__(daemon=True)
        self.count, self.frames = count, queue.Queue(maxsize=2)

    def run(self):
        for _ in range(self.count):
            time.sleep(0.06)  # the camera's archive
            self.frames.put(torch.rand(8, 3, 32, 32))
        self.frames.put(None)


def main():
    torch.manual_seed(108)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 32, 5, padding=2), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 12, 3, padding=1),
                          nn.PixelShuffle(2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    source, watch = Prefetcher(58), Stopwatch()
    source.start()
    with watch.loop():
        while watch.seconds() < 4:
            with watch.planted():
                frames = source.frames.get()
            if frames is None:
                break
            large = nn.functional.interpolate(frames, scale_factor=2, mode="bilinear")
            loss = nn.functional.l1_loss(model(frames), large)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
