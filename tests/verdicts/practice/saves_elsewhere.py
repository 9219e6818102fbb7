"""Learns Braille; a thread writes the checkpoints.

Decoy: a checkpoint after each fortieth step, but the loop only copies the weights for the thread.
Truth: time of copying and handing over, as a share of the loop.
"""
import contextlib
import os
import queue
import threading

import torch
from torch import nn

from stopwatch import Stopwatch


def save_all(jobs):
    while (state := jobs.get()) is not None:
        torch.save(state, "braille.new")
        os.replace("braille.new", "braille.pt")


def main():
    torch.manual_seed(21)
    watch = Stopwatch()
    model = nn.Sequential(nn.Conv2d(1, 32, 5), nn.ReLU(), nn.Conv2d(32, 64, 5, stride=2), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
                          nn.Flatten(), nn.Linear(256, 63))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    dots, letters = torch.rand(24, 1, 48, 48), torch.arange(24)
    jobs = queue.Queue()
    thread = threading.Thread(target=save_all, args=(jobs,))
    thread.start()
    with watch.loop():
        while watch.seconds() < 6:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(dots), letters).backward()
            optimizer.step()
            if len(watch.marks) % 40 == 39:
                with watch.planted():
                    jobs.put({name: value.clone() for name, value in model.state_dict().items()})
            watch.step()
    watch.tell()
    jobs.put(None)
    thread.join()
    with contextlib.suppress(FileNotFoundError):
        os.remove("braille.pt")


if __name__ == "__main__":
    main()
