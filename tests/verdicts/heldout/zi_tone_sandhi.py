"""Which tone a syllable has beside others: a bidirectional recurrent network over syllables of a lexicon, steps marked with dwell.step().

Planted: a helper that "keeps memory low" calls gc.collect() after each sixth batch, and the lexicon and PyTorch are hundreds of thousands of objects.
Truth: time of gc.collect(), of the loop.
"""
import contextlib
import gc

import torch
from torch import nn

from stopwatch import Stopwatch

try:
    import dwell
except ImportError:  # not installed here
    dwell = None

SYLLABLES, TONES, LONGEST, BATCH = 1300, 6, 18, 256
watch = Stopwatch()


def part(name):
    return dwell.record_function(name) if dwell else contextlib.nullcontext()


class Entry:
    def __init__(self, number):
        self.syllables = [(number * 7 + i * i * 13) % SYLLABLES for i in range(LONGEST)]
        self.tones = {"citation": [s % TONES for s in self.syllables], "spoken": self.spoken()}

    def spoken(self):
        tones = [s % TONES for s in self.syllables]
        return [5 if (a, b) in ((2, 2), (3, 1)) else a for a, b in zip(tones, tones[1:] + [0])]


class Tones(nn.Module):
    def __init__(self, width=80):
        super().__init__()
        self.syllable = nn.Embedding(SYLLABLES, width)
        self.body = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.tone = nn.Linear(2 * width, TONES)

    def forward(self, syllables):
        return self.tone(self.body(self.syllable(syllables))[0])


class Housekeeping:
    """What runs between two batches."""

    def __init__(self):
        self.batches, self.freed = 0, 0

    def after_batch(self):
        self.batches += 1
        if self.batches % 6 == 0:
            with watch.planted():
                self.freed += gc.collect()


def main():
    torch.manual_seed(33)
    torch.set_num_threads(1)
    lexicon = [Entry(number) for number in range(5000)]
    said = torch.tensor([e.syllables for e in lexicon[:4096]])
    spoken = torch.tensor([e.tones["spoken"] for e in lexicon[:4096]])
    model, housekeeping = Tones(), Housekeeping()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            if dwell:
                dwell.step()
            at = number * BATCH % 4096
            for half in range(2):
                with part("tones"):
                    rows = slice(at + half * BATCH // 2, at + (half + 1) * BATCH // 2)
                    loss = nn.functional.cross_entropy(model(said[rows]).flatten(0, 1), spoken[rows].flatten()) / 2
                with part("slopes"):
                    loss.backward()
            with part("update"):
                optimizer.step()
                optimizer.zero_grad()
            housekeeping.after_batch()
            watch.step()
    print(f"loss {2 * loss.item():.4f}, {len(lexicon)} entries, {housekeeping.freed} freed")
    watch.tell()


main()
