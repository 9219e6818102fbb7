"""Learns to move a load that hangs from four cables: a model of the load's movements, trained on windows of three tries, with the ranges of dwell around its parts.

Decoy: ranges are called "wait for sensors", "lock" and "checkpoint", a stage's lock is taken in each step, a socket to itself is asked and
a history of losses grows, all of a moment.
Truth: time of these ranges, of the loop.
"""
import collections
import contextlib
import os
import socket
import threading

import torch
from torch import nn

from stopwatch import Stopwatch

try:
    from dwell import record_function, step
except ImportError:  # not installed here
    record_function = contextlib.nullcontext

    def step():
        pass

CABLES, SENSED, WINDOW, BATCH = 4, 13, 40, 48


class Load(nn.Module):
    def __init__(self, width=144):
        super().__init__()
        self.cell = nn.LSTM(SENSED + CABLES, width, batch_first=True)
        self.next = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, SENSED))

    def forward(self, sensed, pulls):
        return sensed + 0.1 * self.next(self.cell(torch.cat([sensed, pulls], 2))[0])


class Stage:
    """What the crane's other programs would share with this one."""

    def __init__(self):
        self.ours, self.theirs = socket.socketpair()
        self.lock, self.losses = threading.Lock(), collections.deque()
        self.file = open(os.devnull, "wb")

    def sensors(self):
        self.theirs.send(b"\x07" * SENSED)
        return self.ours.recv(SENSED)

    def keep(self, tensor):
        self.file.write(tensor.detach().numpy().tobytes())
        self.file.flush()


def main():
    torch.manual_seed(31)
    torch.set_num_threads(1)
    draw = torch.Generator().manual_seed(32)
    pulls = torch.rand(9, BATCH, WINDOW, CABLES, generator=draw)
    sensed = torch.cat([pulls.cumsum(2) / WINDOW, torch.randn(9, BATCH, WINDOW, SENSED - CABLES, generator=draw) / 3], 3)
    watch, model, stage = Stopwatch(), Load(), Stage()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    heard = 0
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            step()
            with record_function("wait for sensors"), watch.planted():
                heard += len(stage.sensors())
            with record_function("foretell"):
                made = model(sensed[number % 9, :, :-1], pulls[number % 9, :, 1:])
                loss = nn.functional.smooth_l1_loss(made, sensed[number % 9, :, 1:])
            with record_function("slopes"):
                optimizer.zero_grad()
                loss.backward()
            with record_function("update"):
                optimizer.step()
            with record_function("lock"), watch.planted(), stage.lock:
                stage.losses.append(loss.item())
            if number % 40 == 39:
                with record_function("checkpoint"), watch.planted():
                    stage.keep(model.next[2].weight)
            watch.step()
    print(f"loss {stage.losses[-1]:.4f} after {len(stage.losses)}, heard {heard}")
    watch.tell()


main()
