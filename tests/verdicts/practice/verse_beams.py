"""Inference: a recurrent network writes verses with a beam search.

Planted: the beams are extended, checked for repetitions and sorted in plain Python.
Truth: time of the search in Python, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

WORDS, BEAMS = 3000, 32


def extend(beams, scores):
    """The best continuations: a list of words and its score for each."""
    longer = []
    for (words, score), row in zip(beams, scores):
        for word, more in enumerate(row):
            if not words or word != words[-1]:
                longer.append((score + more, word, words))
    longer.sort(key=lambda each: each[0], reverse=True)
    return [(words[-20:] + [word], score) for score, word, words in longer[:BEAMS]]


def main():
    torch.manual_seed(11)
    torch.set_num_threads(1)
    table, cell, head = nn.Embedding(WORDS, 512), nn.LSTMCell(512, 1024), nn.Linear(1024, WORDS)
    state, watch = (torch.zeros(BEAMS, 1024), torch.zeros(BEAMS, 1024)), Stopwatch()
    beams = [([], 0.0)] * BEAMS
    with watch.loop(), torch.inference_mode():
        while watch.seconds() < 5:
            last = torch.tensor([words[-1] if words else 0 for words, _ in beams])
            state = cell(table(last), state)
            scores = head(state[0]).log_softmax(1)
            with watch.planted():
                beams = extend(beams, scores[:, :300].tolist())
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
