"""A lost-property office: photographs of umbrellas become vectors and are compared with the shelf; four clients ask at
the same time through threads, one thread serves.

Decoy: a queue that is always full, a lock for the figures, a thread that sleeps and now and then looks at them, a line of
log that is flushed and gc.collect() of the youngest objects; all together are a moment.
Truth: time of taking from the queue, of the figures and of the log, of the loop.
"""
import gc
import queue
import statistics
import tempfile
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

CLIENTS, AHEAD, TOGETHER = 4, 6, 8


class Describe(nn.Module):
    def __init__(self, width=24, size=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, width, 3, stride=2, padding=1), nn.GELU(),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.GELU(),
            nn.Conv2d(2 * width, 2 * width, 3, stride=2, padding=1), nn.GELU(),
            nn.Conv2d(2 * width, 2 * width, 3, padding=1), nn.GELU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * width, size))
        self.register_buffer("shelf", nn.functional.normalize(torch.randn(2000, size), dim=1))

    def forward(self, photographs):
        return (nn.functional.normalize(self.body(photographs), dim=1) @ self.shelf.T).topk(3, dim=1)


class Figures:
    def __init__(self):
        self.lock, self.times, self.ends = threading.Lock(), [], threading.Event()

    def add(self, seconds):
        with self.lock:
            self.times.append(seconds)

    def watch(self):
        while not self.ends.wait(0.5):
            with self.lock:
                recent = self.times[-20:]
            if recent:
                statistics.median(recent)


class Client(threading.Thread):
    """Keeps a few questions under way; puts the next when an answer comes."""

    def __init__(self, counter, number):
        super().__init__(daemon=True)
        self.counter, self.photographs = counter, torch.rand(10, 3, 72, 72, generator=torch.Generator().manual_seed(number))
        self.answers = queue.SimpleQueue()

    def run(self):
        for number in range(AHEAD):
            self.counter.put((self.photographs[number], self.answers))
        number = AHEAD
        while self.answers.get() is not None:
            self.counter.put((self.photographs[number % 10], self.answers))
            number += 1


def serve(model, counter, figures, log, watch):
    waiting = []
    with watch.loop(), torch.inference_mode():
        while watch.seconds() < 6:
            with watch.planted():
                while len(waiting) < TOGETHER:
                    waiting.append(counter.get())
            began = time.perf_counter()
            found = model(torch.stack([photograph for photograph, _ in waiting])).indices.tolist()
            for (_, answers), best in zip(waiting, found):
                answers.put(best)
            waiting.clear()
            with watch.planted():
                figures.add(time.perf_counter() - began)
                if len(watch.marks) % 16 == 15:
                    print(len(watch.marks), found[0], file=log, flush=True)
                    gc.collect(0)
            watch.step()


def main():
    torch.manual_seed(8)
    torch.set_num_threads(1)  # the clients have the other core
    watch, figures, counter = Stopwatch(), Figures(), queue.Queue()
    model = Describe().eval()
    helper = threading.Thread(target=figures.watch, daemon=True)
    helper.start()
    clients = [Client(counter, number) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    with tempfile.TemporaryFile("w") as log:
        serve(model, counter, figures, log, watch)
    figures.ends.set()
    for client in clients:
        client.answers.put(None)
    helper.join()
    watch.tell()


if __name__ == "__main__":
    main()
