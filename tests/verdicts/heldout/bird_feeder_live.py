"""Adapts a network to the pictures of a camera at a bird feeder while they come.

Planted: the camera gives 36 pictures a second, and the loop has finished with one long before the next one is there.
Truth: time of waiting for the next picture, of the loop.
"""
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

RATE, EDGE = 36, 128


class Camera(threading.Thread):
    """Only the newest picture counts, as with each driver of a camera."""

    def __init__(self):
        super().__init__(daemon=True)
        self.scenes = torch.rand(20, 3, EDGE, EDGE, generator=torch.Generator().manual_seed(1))
        self.newest, self.number, self.ready = None, 0, threading.Condition()
        self.off = threading.Event()

    def run(self):
        due = time.monotonic()
        while not self.off.is_set():
            due += 1 / RATE
            time.sleep(max(0.0, due - time.monotonic()))
            with self.ready:
                self.number += 1
                self.newest = self.scenes[self.number % 20]
                self.ready.notify()

    def next(self, after):
        """The newest picture, once there is one that the caller has not seen."""
        with self.ready:
            self.ready.wait_for(lambda: self.number > after, timeout=2)
            return self.number, self.newest


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 24, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(),
                                  nn.Conv2d(48, 48, 3, stride=2, padding=1), nn.ReLU())
        self.up = nn.Sequential(nn.ConvTranspose2d(48, 24, 4, stride=2, padding=1), nn.ReLU(),
                                nn.ConvTranspose2d(24, 3, 4, stride=2, padding=1), nn.Sigmoid())

    def forward(self, picture):
        return self.up(self.down(picture))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(5)
    watch = Stopwatch()
    model = Autoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    camera = Camera()
    camera.start()
    seen = missed = 0
    with watch.loop():
        while watch.seconds() < 7:
            with watch.planted():
                number, picture = camera.next(seen)
            missed += number - seen - 1
            seen = number
            picture = picture.unsqueeze(0)
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(picture), picture)
            loss.backward()
            optimizer.step()
            watch.step()
    camera.off.set()
    camera.join()
    print(f"loss {loss.item():.4f}, {missed} pictures missed")
    watch.tell()


if __name__ == "__main__":
    main()
