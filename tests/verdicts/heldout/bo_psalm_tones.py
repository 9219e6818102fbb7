"""Sets psalms to music: a recurrent-free tagger gives each syllable a tone, compiled by torch.compile, one psalm a step.

Planted: torch.compile(dynamic=False) traces and compiles anew for each length of verse, and the psalms come sorted, so there is a new one every few steps.
Truth: time of the forward passes in which a graph was compiled, less an ordinary one, of the loop.
"""
import random
import statistics
import time
import warnings

import torch
import torch._dynamo
from torch import nn
from torch._dynamo.utils import counters

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
torch._dynamo.config.recompile_limit = 1000
torch._dynamo.config.accumulated_recompile_limit = 1000
SYLLABLES, TONES = 400, 12
watch = Stopwatch()


class Cantor(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.say = nn.Embedding(SYLLABLES, width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.around = nn.Conv1d(width, width, 5, padding=2)
        self.deep = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.tone = nn.Linear(width, TONES)

    def forward(self, verses):
        x = self.say(verses)
        x = x + self.around(x.transpose(1, 2)).transpose(1, 2).relu()
        weights = (self.query(x) @ self.key(x).transpose(1, 2) / x.shape[-1] ** 0.5).softmax(-1)
        x = x + weights @ self.value(x)
        return self.tone(x + self.deep(x))


class Psalter:
    """Psalms of 24 verses, the short ones first as for a child; each length has some psalms."""

    def __init__(self):
        self.dice = random.Random(33)
        self.length, self.left = 60, 5

    def psalm(self):
        if not self.left:
            self.length += 1
            self.left = self.dice.randrange(4, 9)
        self.left -= 1
        verses = torch.randint(SYLLABLES, (24, self.length))
        return verses, (verses * 7 + torch.arange(self.length)) % TONES


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    psalter, model = Psalter(), Cantor()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, fused=True)
    sing = torch.compile(model, dynamic=False, backend="eager")
    for _ in range(3):
        verses, tones = psalter.psalm()
        nn.functional.cross_entropy(sing(verses).flatten(0, 1), tones.flatten()).backward()
    compiled, ordinary = [], []
    with watch.loop():
        while watch.seconds() < 7:
            verses, tones = psalter.psalm()
            graphs, began = counters["stats"]["unique_graphs"], time.perf_counter()
            out = sing(verses)
            took = time.perf_counter() - began
            (compiled if counters["stats"]["unique_graphs"] > graphs else ordinary).append(took)
            loss = nn.functional.cross_entropy(out.flatten(0, 1), tones.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    watch.planted_s = sum(compiled) - len(compiled) * statistics.median(ordinary or [0.0])
    print(f"loss {loss.item():.3f}, {len(compiled)} lengths compiled")
    watch.tell()


main()
