"""Fills gaps in glosses that field linguists wrote between the lines, with a transformer over pieces of words.

Planted: collate_fn cuts the words of each batch into pieces in plain Python, in the process that trains.
Truth: time that the loop waits for its batches, of the loop.
"""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

LENGTH = 40
SYLLABLES = [a + b for a in "ptkmnslr" for b in "aeiou"]


class Glosses(Dataset):
    def __init__(self, count):
        dice = random.Random(6)
        self.lines = [" ".join("".join(dice.choices(SYLLABLES, k=dice.randint(2, 5))) for _ in range(18)) for _ in range(count)]

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, number):
        return self.lines[number]


class Pieces:
    """Byte pairs: the pair that was learnt first is joined first."""

    def __init__(self, lines, merges):
        words = [list(word) for line in lines for word in line.split()]
        self.rank, self.number = {}, {"_": 0, "?": 1}
        for turn in range(merges):
            counts = {}
            for word in words:
                for pair in zip(word, word[1:]):
                    counts[pair] = counts.get(pair, 0) + 1
            best = max(counts, key=counts.get)
            self.rank[best] = turn
            words = [self.join(word, best) for word in words]
        for sign in sorted({sign for word in words for sign in word} | set("ptkmnslraeiou") | {a + b for a, b in self.rank}):
            self.number[sign] = len(self.number)

    @staticmethod
    def join(word, pair):
        out, at = [], 0
        while at < len(word):
            if at + 1 < len(word) and (word[at], word[at + 1]) == pair:
                out.append(word[at] + word[at + 1])
                at += 2
            else:
                out.append(word[at])
                at += 1
        return out

    def cut(self, word):
        signs = list(word)
        while len(signs) > 1:
            known = [pair for pair in zip(signs, signs[1:]) if pair in self.rank]
            if not known:
                break
            signs = self.join(signs, min(known, key=self.rank.get))
        return [self.number.get(sign, 1) for sign in signs]

    def __call__(self, lines):
        rows = torch.zeros(len(lines), LENGTH, dtype=torch.long)
        for row, line in zip(rows, lines):
            pieces = [piece for word in line.split() for piece in self.cut(word)][:LENGTH]
            row[:len(pieces)] = torch.tensor(pieces)
        return rows


class Filler(nn.Module):
    def __init__(self, pieces, width=80):
        super().__init__()
        self.piece, self.place = nn.Embedding(pieces, width), nn.Parameter(0.02 * torch.randn(LENGTH, width))
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.layers, self.guess = nn.TransformerEncoder(layer, 2), nn.Linear(width, pieces)

    def forward(self, rows):
        return self.guess(self.layers(self.piece(rows) + self.place))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    glosses, watch = Glosses(2400), Stopwatch()
    pieces = Pieces(glosses.lines[:80], 120)
    model = Filler(len(pieces.number))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, fused=True)
    loader = DataLoader(glosses, batch_size=32, shuffle=True, collate_fn=pieces, drop_last=True)
    with watch.loop():
        while watch.seconds() < 6:
            for rows in watch.limited(watch.batches(loader), 6):
                gaps = torch.rand(rows.shape) < 0.15
                told = model(rows.masked_fill(gaps, 1))
                loss = nn.functional.cross_entropy(told[gaps], rows[gaps])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch.step()
    watch.tell()


main()
