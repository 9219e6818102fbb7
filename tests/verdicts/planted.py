"""What the training scripts of this folder share: a loop that measures itself, work of a known length, a model.

    python SCRIPT.py CAUSE SHARE

CAUSE is one of the script's causes. SHARE is the part of the loop that it is to take (0.12; 0 plants nothing).
The planted time for this share is computed from the length of a step without the fault. At first this length
is estimated from the speed of this processor, later from the steps so far, which other programs may make
longer. The planted time is measured with time.perf_counter(), and printed at the end:

    TRUTH {"cause": "checkpoint", "steps": 80, "share": 0.131, ...}

    share       the planted time, as a part of the loop
    planted_ms  the planted time of a step
    mean_ms     the loop's time divided by its steps
    step_ms     the median time from one step's begin to the next

The first WARM_UP steps are not in these figures. A step counts from its begin to the begin of the next one.
"""
import contextlib
import ctypes
import json
import sys
import time

import torch
from torch import nn
from torch.nn import functional

WARM_UP = 5
# A step of Mixer with BATCH images, and reference(), on the processor that the shares were tuned on.
STEP_MS = 18.0
REFERENCE_MS = 0.7
BATCH = 16
LATEST = 16  # steps

TRIM_THRESHOLD, MMAP_THRESHOLD, MMAP_MAX = -1, -3, -4  # mallopt()


def keep_memory():
    """The C library keeps freed memory, so that the only page faults are planted ones."""
    library = ctypes.CDLL(None)
    library.mallopt(MMAP_MAX, 0)
    library.mallopt(TRIM_THRESHOLD, 1 << 30)


def return_memory(mib):
    """The C library returns blocks of this size to the kernel when they are freed."""
    library = ctypes.CDLL(None)
    library.mallopt(MMAP_MAX, 1 << 16)
    library.mallopt(MMAP_THRESHOLD, mib << 20)


keep_memory()
torch.manual_seed(0)
torch.set_num_threads(1)  # the same figures on every machine; scripts about threads change it


class Mixer(nn.Module):
    """A small network of many kinds of layers: no operator takes most of the time, and Python little of it."""

    def __init__(self, size=64):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
                                  nn.Conv2d(32, size, 3, stride=2, padding=1), nn.BatchNorm2d(size), nn.ReLU(),
                                  nn.AvgPool2d(2))
        self.norm = nn.LayerNorm(size)
        self.up, self.down = nn.Linear(size, 12 * size), nn.Linear(12 * size, size)
        self.head = nn.Linear(size, 10)

    def forward(self, images):
        x = self.stem(images).flatten(2)  # channels are the tokens: no transposed copy
        x = x + self.down(functional.gelu(self.up(self.norm(x))))
        return self.head(x[:, 0])


def images(count=BATCH):
    """A batch: images and labels."""
    return torch.randn(count, 3, 32, 32), torch.randint(10, (count,))


def reference():
    """Milliseconds of a product of matrices here: how fast this processor is."""
    a, times = torch.randn(320, 320), []
    for _ in range(30):
        began = time.perf_counter()
        torch.mm(a, a)
        times.append(time.perf_counter() - began)
    return min(times[5:]) * 1e3


def wait(ms):
    """Sleeps, as a program does that waits for something far away."""
    if ms > 0:
        time.sleep(ms / 1e3)


WORDS = ("the quick brown fox jumps over the lazy dog while small models learn to count letters " * 4).split()


def compute(ms):
    """Runs Python for some milliseconds: counts words as a metric of a text model does."""
    counts, end = {}, time.perf_counter() + ms / 1e3
    while time.perf_counter() < end:
        for word in WORDS:
            key = word.strip(".,").lower()
            counts[key] = counts.get(key, 0) + len(key)
    return counts


class Run:
    """The loop: its steps, and the clock that measures what was planted."""

    def __init__(self, steps=50):
        self.cause, self.share = sys.argv[1], float(sys.argv[2])
        self.count = steps
        self.speed = reference() / REFERENCE_MS  # above 1: slower than where the shares were tuned
        self.begins, self.planted, self.extra = [], [], {}

    def rest_ms(self):
        """The time of a step without the planted time: the median of the newest steps."""
        ends = self.begins[-LATEST:]
        rest = sorted(b - a - planted for a, b, planted in zip(ends, ends[1:], self.planted[-LATEST:]))
        return rest[len(rest) // 2] * 1e3 if len(rest) > 2 else STEP_MS * self.speed

    def ms(self):
        """The planted milliseconds of a step that make `share` of the loop."""
        return self.rest_ms() * self.share / (1 - self.share)

    def steps(self):
        for number in range(self.count):
            self.begin()
            yield number
        self.end()

    def begin(self):
        """A step begins, and the one before ends."""
        self.begins.append(time.perf_counter())
        self.planted.append(0.0)

    def end(self):
        self.begins.append(time.perf_counter())

    @contextlib.contextmanager
    def planting(self):
        began = time.perf_counter()
        try:
            yield
        finally:
            self.add(time.perf_counter() - began)

    def add(self, seconds):
        if self.planted:
            self.planted[-1] += seconds

    def say(self, **facts):
        """Adds further measured values to the line of the truth."""
        self.extra.update(facts)

    def close(self):
        periods = [b - a for a, b in zip(self.begins, self.begins[1:])][WARM_UP:]
        planted, loop = sum(self.planted[WARM_UP:]), sum(periods)
        truth = {"cause": self.cause, "steps": len(self.planted), "share": round(planted / loop, 4),
                 "planted_ms": round(planted / len(periods) * 1e3, 4), "mean_ms": round(loop / len(periods) * 1e3, 4),
                 "step_ms": round(sorted(periods)[len(periods) // 2] * 1e3, 4)}
        print("TRUTH " + json.dumps({**truth, **self.extra}), flush=True)


class Training:
    """A model and its optimizer; one() does a step on a batch."""

    def __init__(self, model=None, **options):
        self.model = model or Mixer()
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.01, momentum=0.9, **options)

    def one(self, batch):
        x, y = batch
        self.optimizer.zero_grad()
        loss = functional.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss
