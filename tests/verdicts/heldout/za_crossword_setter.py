"""Sets crosswords: a small transformer learns to give the missing letters of a grid's words from the letters that cross them.

Planted: a helper that "keeps memory low" calls gc.collect() after each sixteenth step, with a dictionary of clues and all of PyTorch to look through.
Truth: time of that call, of the loop.
"""
import gc
import random
from dataclasses import dataclass, field

import torch
from torch import nn

from stopwatch import Stopwatch

LETTERS, LENGTH, BATCH, BLANK = 26, 15, 48, 26


@dataclass
class Entry:
    word: str
    clues: list = field(default_factory=list)
    crossings: dict = field(default_factory=dict)


class Lexicon:
    """All words that a setter may use, with their clues and with what crosses them."""

    def __init__(self, size):
        draw = random.Random(6)
        self.entries = {}
        for _ in range(size):
            word = "".join(draw.choices("etaoinshrdlucmfwypvbgkqjxz", k=LENGTH))
            entry = Entry(word, [[word[::-1], draw.random()]])
            entry.crossings = {place: [letter] for place, letter in enumerate(word[:3])}
            self.entries[word] = entry
        self.words = list(self.entries)

    def batch(self, draw):
        rows = [[ord(letter) - 97 for letter in word] for word in draw.sample(self.words, BATCH)]
        return torch.tensor(rows)


class Setter(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.letters = nn.Embedding(LETTERS + 1, width)
        self.places = nn.Parameter(0.02 * torch.randn(LENGTH, width))
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.cross = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.fill = nn.Linear(width, LETTERS)

    def forward(self, grid):
        return self.fill(self.cross(self.letters(grid) + self.places))


class Tidy:
    """Lets go of what a step has used, and of rings of objects every now and then."""

    def __init__(self, every):
        self.every, self.steps = every, 0

    def __call__(self, *done):
        del done
        self.steps += 1
        if self.steps % self.every == 0:
            gc.collect()


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    watch, draw, lexicon, setter = Stopwatch(), random.Random(2), Lexicon(5000), Setter()
    optimizer = torch.optim.AdamW(setter.parameters(), lr=1e-3, fused=True)
    tidy = Tidy(every=16)
    with watch.loop():
        for _ in watch.limited(range(100000), 6):
            words = lexicon.batch(draw)
            missing = torch.rand(words.shape) < 0.4
            said = setter(words.masked_fill(missing, BLANK))
            loss = nn.functional.cross_entropy(said[missing], words[missing])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            with watch.planted():
                tidy(words, missing, said)
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
