"""Learns from games of a board game, which are kept as trees of Python objects.

Planted: someone set low thresholds of the garbage collector to save memory, and each game makes thousands of nodes.
Truth: time of collections, by the collector's own callbacks, as a share of the loop.
"""
import gc
import time

import torch
from torch import nn

from stopwatch import Stopwatch

watch = Stopwatch()


class Value(nn.Module):
    def __init__(self):
        super().__init__()
        self.moves = nn.Embedding(64, 32)
        self.layers = nn.Sequential(nn.Conv1d(32, 96, 9), nn.ReLU(), nn.Conv1d(96, 96, 9), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(96, 3))

    def forward(self, moves):
        return self.layers(self.moves(moves).transpose(1, 2))


class Node:
    def __init__(self, parent, move):
        self.parent, self.move, self.children = parent, move, []


def play(seed):
    root = Node(None, seed)
    leaves = [root]
    while len(leaves) < 250:
        parent = leaves.pop(0)
        parent.children = [Node(parent, (parent.move * 3 + at) % 64) for at in range(3)]
        leaves += parent.children
    return root, [leaf.move for leaf in leaves[:200]]


def watch_collector(phase, _):
    if phase == "start":
        watch.collection_began = time.perf_counter()
    elif watch.began:
        watch.planted_s += time.perf_counter() - watch.collection_began


def main():
    torch.manual_seed(8)
    model = Value()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    history = []
    gc.callbacks.append(watch_collector)
    gc.set_threshold(400, 4, 4)
    with watch.loop():
        while watch.seconds() < 6:
            games = [play(seed + len(watch.marks)) for seed in range(8)]
            history = history[-40:] + [root for root, _ in games]
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(torch.tensor([moves for _, moves in games])), torch.arange(8) % 3).backward()
            optimizer.step()
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
