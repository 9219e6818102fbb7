"""Classifies subtitles; the batch's texts are split into pieces when they are drawn.

Planted: a DataLoader without workers, whose collate function splits texts by a greedy vocabulary in Python.
Truth: time in the loader's next(), as a share of the loop.
"""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader

from stopwatch import Stopwatch

LETTERS = "etaoinshrdlu"


class Pieces:
    """The longest piece first, as WordPiece does."""

    def __init__(self, rng):
        self.numbers = {letter: number for number, letter in enumerate(LETTERS + " ")}
        for _ in range(3000):
            self.numbers.setdefault("".join(rng.choices(LETTERS, k=rng.randint(2, 6))), len(self.numbers))

    def split(self, text):
        numbers, place = [], 0
        while place < len(text):
            for length in range(6, 0, -1):
                number = self.numbers.get(text[place:place + length])
                if number is not None:
                    numbers.append(number)
                    place += length
                    break
        return numbers

    def batch(self, samples):
        split = [torch.tensor(self.split(text)) for text, _ in samples]
        return nn.utils.rnn.pad_sequence(split, batch_first=True), torch.tensor([genre for _, genre in samples])


def main():
    torch.manual_seed(45)
    rng = random.Random(7)
    pieces = Pieces(rng)
    texts = [(" ".join("".join(rng.choices(LETTERS, k=rng.randint(2, 9))) for _ in range(12)), rng.randrange(6)) for _ in range(900)]
    embedding = nn.Embedding(len(pieces.numbers), 48)
    encoder = nn.GRU(48, 48, batch_first=True)
    head = nn.Linear(48, 6)
    parameters = [*embedding.parameters(), *encoder.parameters(), *head.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=0.05)
    loader = DataLoader(texts, batch_size=32, shuffle=True, collate_fn=pieces.batch)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            for tokens, genres in watch.limited(watch.batches(loader), 3):
                _, last = encoder(embedding(tokens))
                loss = nn.functional.cross_entropy(head(last[0]), genres)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
