"""Finds promoters in a genome that is larger than the memory it may use; windows are read from a file.

Planted: each step reads its windows from the disk, past the page cache, before it computes.
Truth: time of reading, as a share of the loop.
"""
import os
import random
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch

WINDOW, BATCH, WINDOWS = 65536, 24, 512


def read_windows(genome, rng):
    windows = []
    for _ in range(BATCH):
        place = rng.randrange(WINDOWS) * WINDOW
        windows.append(torch.frombuffer(bytearray(os.pread(genome, WINDOW, place)), dtype=torch.uint8)[:2048])
        os.posix_fadvise(genome, place, WINDOW, os.POSIX_FADV_DONTNEED)
    return torch.stack(windows).long() % 4


def main():
    torch.manual_seed(49)
    rng, watch = random.Random(9), Stopwatch()
    model = nn.Sequential(nn.Conv1d(4, 32, 12, stride=4), nn.ReLU(), nn.Conv1d(32, 32, 8, stride=4), nn.ReLU(),
                          nn.AdaptiveMaxPool1d(4), nn.Flatten(), nn.Linear(128, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with tempfile.NamedTemporaryFile(dir=os.path.expanduser("~")) as file:
        for _ in range(WINDOWS):
            file.write(rng.randbytes(WINDOW))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        with watch.loop():
            while watch.seconds() < 3:
                with watch.planted():
                    windows = read_windows(file.fileno(), rng)
                bases = nn.functional.one_hot(windows, 4).transpose(1, 2).float()
                loss = nn.functional.cross_entropy(model(bases), torch.arange(BATCH) % 2)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
