"""Classifies sounds of engines; it is full of calls of loggers.

Decoy: nearly all lines are below the logger's level, and the others stay in memory until the end.
Truth: time of these calls, as a share of the loop.
"""
import logging
import logging.handlers

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(73)
    torch.set_num_threads(1)
    target = logging.FileHandler("engines.log")
    logging.basicConfig(level=logging.INFO, handlers=[logging.handlers.MemoryHandler(100000, logging.CRITICAL, target)])
    log = logging.getLogger("engines")
    model = nn.Sequential(nn.Linear(1000, 700), nn.ReLU(), nn.Linear(700, 300), nn.ReLU(), nn.Linear(300, 7))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    sounds, kinds, watch = torch.rand(400, 1000), torch.randint(7, (400,)), Stopwatch()
    with watch.loop():
        while watch.seconds() < 5:
            loss = nn.functional.cross_entropy(model(sounds), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                for row in range(100):
                    log.debug("row %d of step %d", row, len(watch.marks))
                log.info("step %d loss %.4f", len(watch.marks), loss.item())
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
