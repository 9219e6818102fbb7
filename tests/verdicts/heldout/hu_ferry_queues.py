"""Forecasts the queues at a ferry from a file of counts: windows of a week, a mixer of days, quantiles as the answer.

Decoy: windows come from a memory map without a loader's worker, a thread of a pool makes figures of a tiny part, each loss is read with
.item() and kept in a list, and every fortieth line is flushed, all of a moment.
Truth: time of all these, of the loop.
"""
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy
import torch
from torch import nn

from stopwatch import Stopwatch

HOURS, FERRIES, WIDTH, BATCH = 168, 6, 128, 256


class Counts:
    def __init__(self, folder):
        path = os.path.join(folder, "counts.npy")
        hours = numpy.arange(6000, dtype=numpy.float32)[:, None]
        numpy.save(path, numpy.sin(hours * 0.26 + numpy.arange(FERRIES)).astype(numpy.float32) + 0.1 * numpy.cos(hours * 1.7))
        self.map = numpy.load(path, mmap_mode="r")
        self.random = numpy.random.default_rng(3)

    def batch(self):
        begins = self.random.integers(0, 6000 - HOURS - 1, BATCH)
        weeks = self.map[begins[:, None] + numpy.arange(HOURS + 1)]
        return torch.from_numpy(weeks[:, :HOURS]), torch.from_numpy(weeks[:, HOURS])


class Queue(nn.Module):
    """Days are mixed with each other, then each on its own; the last day answers."""

    def __init__(self):
        super().__init__()
        self.day = nn.Linear(24 * FERRIES, WIDTH)
        self.mix = nn.ModuleList(nn.Linear(7 * WIDTH, 7 * WIDTH) for _ in range(2))
        self.own = nn.ModuleList(nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)) for _ in range(2))
        self.answer = nn.Linear(WIDTH, FERRIES * 3)

    def forward(self, week):
        days = self.day(week.reshape(-1, 7, 24 * FERRIES))
        for mix, own in zip(self.mix, self.own):
            days = days + torch.tanh(mix(days.flatten(1))).view_as(days)
            days = days + own(days)
        return self.answer(days[:, -1]).view(-1, FERRIES, 3)


def figures(answers):
    return float(numpy.abs(numpy.diff(answers, axis=1)).mean())


def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    watch, queue = Stopwatch(), Queue()
    optimizer = torch.optim.AdamW(queue.parameters(), lr=1e-4, fused=True)
    quantiles = torch.tensor([0.1, 0.5, 0.9])
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool, open(os.path.join(folder, "log"), "w") as log:
        counts, losses, spread = Counts(folder), [], None
        with watch.loop():
            for number in watch.limited(range(100000), 6):
                with watch.planted():
                    week, after = counts.batch()
                answer = queue(week)
                wrong = after[:, :, None] - answer
                loss = torch.maximum(quantiles * wrong, (quantiles - 1) * wrong).mean()
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                with watch.planted():
                    losses.append(loss.item())
                    if number % 10 == 0:
                        spread = pool.submit(figures, answer[:2].detach().numpy())
                    if number % 40 == 0:
                        print(f"step {number} loss {losses[-1]:.4f} spread {spread.result():.3f}", file=log, flush=True)
                watch.step()
    print(f"loss {losses[-1]:.4f} spread {spread.result():.3f}")
    watch.tell()


main()
