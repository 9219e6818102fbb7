"""Learns to correct spelling with a reward from the distance of words.

Planted: each step computes the edit distance of some words with nested Python loops.
Truth: time of the distances, as a share of the loop.
"""
import random

import torch
from torch import nn

from stopwatch import Stopwatch


def distance(one, other):
    row = list(range(len(other) + 1))
    for letter in one:
        before, row[0] = row[0], row[0] + 1
        for place, wanted in enumerate(other):
            before, row[place + 1] = row[place + 1], min(before + (letter != wanted), row[place] + 1, row[place + 1] + 1)
    return row[-1]


def main():
    torch.manual_seed(61)
    torch.set_num_threads(1)
    source = random.Random(61)
    words = ["".join(source.choice("abcdefgh") for _ in range(14)) for _ in range(200)]
    recurrent, head = nn.LSTM(32, 192, batch_first=True), nn.Linear(192, 26)
    optimizer = torch.optim.SGD([*recurrent.parameters(), *head.parameters()], lr=0.01)
    letters, watch = torch.randn(64, 14, 32), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.4:
            with watch.planted():
                reward = sum(distance(source.choice(words), source.choice(words)) for _ in range(120)) / 120
            states, _ = recurrent(letters)
            loss = -reward * head(states).log_softmax(2)[..., 0].mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
