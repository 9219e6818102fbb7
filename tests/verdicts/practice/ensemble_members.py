"""Trains an ensemble for a leaderboard: four members at once, each in a process of its own.

Planted: four processes that compute without pause share two cores.
Truth: time that this member's thread did not run although it never waits for anything, as a share of the loop.
"""
import os
import signal
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def make(seed):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(90, 420), nn.SELU(), nn.Linear(420, 420), nn.SELU(), nn.Linear(420, 3))
    return model, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)


def step(model, optimizer):
    rows = torch.randn(512, 90)
    loss = nn.functional.cross_entropy(model(rows), (rows[:, 0] > 0).long() + (rows[:, 1] > 1).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def train_member(seed):
    model, optimizer = make(seed)
    while True:
        step(model, optimizer)


def main():
    torch.set_num_threads(1)
    members = []
    for seed in range(1, 4):
        member = os.fork()
        if not member:
            train_member(seed)
        members.append(member)
    model, optimizer = make(0)
    watch = Stopwatch()
    time.sleep(0.3)
    ran = time.thread_time()
    with watch.loop():
        while watch.seconds() < 3.3:
            loss = step(model, optimizer)
            watch.step()
    ran = time.thread_time() - ran
    for member in members:
        os.kill(member, signal.SIGKILL)
        os.waitpid(member, 0)
    print(f"loss {loss.item():.3f}")
    watch.tell(1 - ran / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
