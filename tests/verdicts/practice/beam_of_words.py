"""Writes captions with a beam of eight candidates.

Planted: scores are turned into lists, and candidates are sorted and extended in Python loops.
Truth: time from the scores to the next candidates, as a share of the loop.
"""
import math

import torch
from torch import nn

from stopwatch import Stopwatch

WORDS, BEAM = 3000, 8


class Captions(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, 256)
        self.mix = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 256))
        self.out = nn.Linear(256, WORDS)

    def forward(self, tokens):
        return self.out(self.mix(self.words(tokens)).mean(1))


def extend(beam, scores):
    candidates = []
    for (tokens, score), row in zip(beam, scores.tolist()):
        top = max(row)
        total = math.log(sum(math.exp(value - top) for value in row)) + top
        best = sorted(range(len(row)), key=row.__getitem__, reverse=True)[:BEAM]
        candidates += [(tokens[-31:] + [word], score + row[word] - total) for word in best]
    return sorted(candidates, key=lambda each: -each[1])[:BEAM]


def main():
    torch.manual_seed(4)
    watch = Stopwatch()
    model = Captions().eval()
    beam = [([at] * 32, 0.0) for at in range(BEAM)]
    with watch.loop(), torch.no_grad():
        while watch.seconds() < 6:
            scores = model(torch.tensor([tokens for tokens, _ in beam]))
            with watch.planted():
                beam = extend(beam, scores)
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
