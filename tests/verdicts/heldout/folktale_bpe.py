"""Learns which region a folktale comes from.

Planted: each sample is split into byte pairs by a tokenizer in Python, by the loop's own process, and nothing is remembered.
Truth: the loop's time of getting batches, of the loop.
"""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import Stopwatch

SYLLABLES = [a + b for a in "bdfghklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "ul")]
LENGTH, REGIONS, WORDS = 64, 12, 32


def write_tale(source):
    return " ".join("".join(source.choices(SYLLABLES, k=source.randint(2, 4))) for _ in range(WORDS))


class BytePairs:
    """Merges the pair of the lowest rank until no known pair is left."""

    def __init__(self, syllables):
        self.ranks, self.ids = {}, {}
        for syllable in syllables:
            for end in range(1, len(syllable)):
                self.ranks.setdefault((syllable[:end], syllable[end]), len(self.ranks))
        for left, right in list(self.ranks)[::5]:
            self.ranks[(left + right, left + right)] = len(self.ranks)

    def word(self, word):
        parts = list(word)
        while len(parts) > 1:
            ranked = [(self.ranks.get(pair, 1 << 30), at) for at, pair in enumerate(zip(parts, parts[1:]))]
            rank, at = min(ranked)
            if rank == 1 << 30:
                break
            parts[at:at + 2] = [parts[at] + parts[at + 1]]
        return parts

    def encode(self, text):
        tokens = [part for word in text.split(" ") for part in self.word(word)]
        return [self.ids.setdefault(token, len(self.ids) + 1) % 1024 for token in tokens]


class Tales(Dataset):
    def __init__(self, count):
        source = random.Random(4)
        self.tales = [write_tale(source) for _ in range(count)]
        self.tokenizer = BytePairs(SYLLABLES)

    def __len__(self):
        return len(self.tales)

    def __getitem__(self, number):
        ids = self.tokenizer.encode(self.tales[number])[:LENGTH]
        ids += [0] * (LENGTH - len(ids))
        return torch.tensor(ids), number % REGIONS


class Classifier(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.embed = nn.Embedding(1024, width)
        layer = nn.TransformerEncoderLayer(width, 4, 192, batch_first=True, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.out = nn.Linear(width, REGIONS)

    def forward(self, ids):
        return self.out(self.encoder(self.embed(ids)).mean(1))


def endless(loader):
    while True:
        yield from loader


def main():
    torch.manual_seed(1)
    watch = Stopwatch()
    loader = DataLoader(Tales(4000), batch_size=24, shuffle=True)
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    with watch.loop():
        for ids, region in watch.limited(watch.batches(endless(loader)), 7):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(ids), region)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
