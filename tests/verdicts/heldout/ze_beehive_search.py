"""Searches by evolution for networks that tell from a hive's hum whether the bees will swarm.

Decoy: the best is copied and pickled, its ancestors are kept in a list, a thread reads the score under a lock, a nap of 1 ms after each eighth generation; all small.
Truth: time of all these, of the loop.
"""
import copy
import pickle
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

HIVES, BEES, PITCHES, UNITS = 256, 48, 40, 96


class Swarm(nn.Module):
    """A population of networks, each with weights of its own, that all hear the same hives."""

    def __init__(self):
        super().__init__()
        self.weights = [0.2 * torch.randn(BEES, PITCHES, UNITS), 0.1 * torch.randn(BEES, UNITS, UNITS), 0.1 * torch.randn(BEES, UNITS, 1)]

    def forward(self, hum):
        x = torch.bmm(hum.expand(BEES, -1, -1), self.weights[0])
        x = torch.bmm(torch.tanh(x), self.weights[1])
        return torch.bmm(torch.relu(x), self.weights[2])[..., 0]


class Board:
    def __init__(self):
        self.lock, self.score, self.stop, self.read = threading.Lock(), 0.0, threading.Event(), 0

    def watch(self):
        while not self.stop.wait(0.1):
            with self.lock:
                self.read += self.score > -1


def children(weights, order, strength):
    """The better half stays; the others become changed copies of it."""
    half = BEES // 2
    for matrix in weights:
        matrix[order[half:]] = matrix[order[:half]]
        matrix[order[half:]] += strength * torch.randn(1, *matrix.shape[1:])


def main():
    torch.manual_seed(14)
    swarm, board, watch, line = Swarm(), Board(), Stopwatch(), []
    reader = threading.Thread(target=board.watch, daemon=True)
    reader.start()
    hum = torch.randn(HIVES, PITCHES)
    leaves = (hum[:, :6].sum(1) > 0.5).float()
    number = 0
    with torch.inference_mode(), watch.loop():
        while watch.seconds() < 6.5:
            said = swarm(hum)
            score = -nn.functional.binary_cross_entropy_with_logits(said, leaves.expand(BEES, -1), reduction="none").mean(1)
            order = score.argsort(descending=True)
            with watch.planted():
                with board.lock:
                    board.score = score.max().item()
                if number % 10 == 0:
                    best = [matrix[order[0]].clone() for matrix in swarm.weights]
                    line.append(len(pickle.dumps(copy.deepcopy(best[2]))))
                if number % 8 == 0:
                    time.sleep(0.001)
            children(swarm.weights, order, 0.02)
            number += 1
            watch.step()
    board.stop.set()
    reader.join()
    print(f"{number} generations, score {board.score:.4f}, {len(line)} ancestors")
    watch.tell()


if __name__ == "__main__":
    main()
