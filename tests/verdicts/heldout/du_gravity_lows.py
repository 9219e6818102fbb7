"""Cleans maps of gravity of what lies deep: fields are continued upwards by a dense operator, and a small convolutional net takes the rest apart. Inference.

Planted: the operator's table and its weights come from NumPy in double precision, so the continuation is computed in double precision and cast back.
Truth: time of the continuation, less what the same takes in single precision (measured before the loop), as a share of the loop.
"""
import math
import time

import numpy as np
import torch
from torch import nn

from stopwatch import Stopwatch

try:
    from dwell import step as mark_step
except ImportError:  # not run under dwell
    def mark_step():
        pass

SIDE, MAPS, HEIGHTS = 40, 24, 4
watch = Stopwatch()


class Continuation(nn.Module):
    """What the field is some cells higher: an integral of all cells with Poisson's kernel."""

    def __init__(self, heights):
        super().__init__()
        rows, columns = np.divmod(np.arange(SIDE * SIDE), SIDE)
        far = (rows[:, None] - rows) ** 2 + (columns[:, None] - columns) ** 2
        tables = [height / (2 * math.pi * (far + height ** 2) ** 1.5) for height in heights]
        self.register_buffer("tables", torch.from_numpy(np.stack(tables)))

    def forward(self, field):
        flat = field.flatten(1).to(self.tables.dtype)
        risen = [torch.tanh(flat @ table) for table in self.tables]
        return torch.stack(risen, 1).view(-1, len(risen), SIDE, SIDE).float()


class Cleaner(nn.Module):
    def __init__(self):
        super().__init__()
        self.rise = Continuation([2.0 + 3 * h for h in range(HEIGHTS)])
        self.parts = nn.Sequential(
            nn.Conv2d(1 + HEIGHTS, 20, 3, padding=1), nn.GELU(), nn.Conv2d(20, 20, 3, padding=1), nn.GELU(), nn.Conv2d(20, 1, 3, padding=1))

    def forward(self, field):
        with watch.planted():
            risen = self.rise(field)
        return self.parts(torch.cat([field, risen], 1))


def in_single(model, field):
    """Seconds of the continuation in single precision."""
    single = Continuation([2.0 + 3 * h for h in range(HEIGHTS)]).float()
    times = []
    for _ in range(9):
        began = time.perf_counter()
        single(field)
        times.append(time.perf_counter() - began)
    return min(times)


@torch.inference_mode()
def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    survey = torch.randn(MAPS * 20, 1, SIDE, SIDE)
    model = Cleaner().eval()
    model(survey[:MAPS])
    usual = in_single(model, survey[:MAPS])
    watch.planted_s = 0.0
    lows = 0.0
    with watch.loop():
        first = 0
        while watch.seconds() < 6:
            anomaly = model(survey[first:first + MAPS])
            lows += float(anomaly.amin())
            first = (first + MAPS) % len(survey)
            watch.step()
            mark_step()
    print(f"lowest on average: {lows / len(watch.marks):.3f}")
    watch.tell((watch.planted_s - usual * len(watch.marks)) / (watch.ended - watch.began))


main()
