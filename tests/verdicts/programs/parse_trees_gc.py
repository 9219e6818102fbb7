"""Trains a parser's scorer; the treebank lies in memory as Python objects.

Planted: "to keep memory low", every third step ends with gc.collect(), which walks the whole treebank.
Truth: time of gc.collect(), as a share of the loop.
"""
import gc
import random

import torch
from torch import nn

from stopwatch import Stopwatch


class Node:
    def __init__(self, label, parent):
        self.label, self.parent, self.children = label, parent, []
        if parent:
            parent.children.append(self)


def grow(rng, size):
    nodes = [Node(0, None)]
    for _ in range(size - 1):
        nodes.append(Node(rng.randrange(40), nodes[rng.randrange(max(0, len(nodes) - 6), len(nodes))]))
    return nodes[0], [node.label for node in nodes]


def main():
    torch.manual_seed(15)
    torch.set_num_threads(1)
    rng = random.Random(15)
    treebank = [grow(rng, 30) for _ in range(6000)]
    labels = torch.tensor([label for _, label in treebank])
    scorer = nn.Sequential(nn.Embedding(40, 64), nn.Flatten(), nn.Linear(64 * 30, 512), nn.ReLU(), nn.Linear(512, 5))
    optimizer = torch.optim.SGD(scorer.parameters(), lr=0.02)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 9:
            chosen = torch.randint(len(treebank), (512,))
            target = torch.tensor([len(treebank[index][0].children) % 5 for index in chosen.tolist()])
            loss = nn.functional.cross_entropy(scorer(labels[chosen]), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if len(watch.marks) % 3 == 2:
                with watch.planted():
                    gc.collect()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
