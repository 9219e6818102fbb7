"""An inference service for a harbour: pilots ask how a ship of a given load will turn in the wind, and a network answers.

Planted: a group of requests is closed when sixteen are there or 6 ms have passed, but there are only five pilots, and each waits for its answer.
Truth: time in which the service waits for further requests after the first of a group, of the loop.
"""
import queue
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

PILOTS, LARGEST, WINDOW_S, COURSE, SENSED = 5, 16, 0.006, 48, 20


class Turning(nn.Module):
    """What a ship does during the next minutes, from what it did."""

    def __init__(self):
        super().__init__()
        self.past = nn.LSTM(SENSED, 320, batch_first=True)
        self.mix = nn.Sequential(nn.Linear(320, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 2 * COURSE))

    def forward(self, sensed):
        seen, _ = self.past(sensed)
        return self.mix(seen[:, -1])


class Pilot(threading.Thread):
    def __init__(self, number, requests):
        super().__init__(daemon=True)
        generator = torch.Generator().manual_seed(number)
        self.sensed = list(torch.randn(12, COURSE, SENSED, generator=generator))
        self.requests, self.answers = requests, queue.SimpleQueue()

    def run(self):
        asked = 0
        while True:
            self.requests.put((self, self.sensed[asked % len(self.sensed)]))
            if self.answers.get() is None:
                return
            asked += 1


def gather(requests, watch):
    """The next group."""
    group = [requests.get()]
    with watch.planted():
        closes = time.monotonic() + WINDOW_S
        while len(group) < LARGEST:
            left = closes - time.monotonic()
            if left <= 0:
                break
            try:
                group.append(requests.get(timeout=left))
            except queue.Empty:
                break
    return group


def serve(model, requests, watch):
    with torch.no_grad(), watch.loop():
        while watch.seconds() < 6:
            group = gather(requests, watch)
            courses = model(torch.stack([sensed for _, sensed in group]))
            for (pilot, _), course in zip(group, courses):
                pilot.answers.put(course)
            watch.step()
    return courses


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model, requests, watch = Turning().eval(), queue.Queue(), Stopwatch()
    pilots = [Pilot(number, requests) for number in range(PILOTS)]
    for pilot in pilots:
        pilot.start()
    courses = serve(model, requests, watch)
    for pilot in pilots:
        pilot.answers.put(None)
    print(f"course {courses.mean().item():.4f}")
    watch.tell()


main()
