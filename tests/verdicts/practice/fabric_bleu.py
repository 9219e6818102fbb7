"""Trains a translator with Lightning's Fabric, and weighs its loss by the BLEU of the greedy translation.

Planted: n-grams are counted in Python for each sentence of each step.
Truth: time of BLEU, as a share of the loop.
"""
import collections
import math
import warnings

import torch
from lightning.fabric import Fabric
from torch import nn

from stopwatch import Stopwatch

warnings.filterwarnings("ignore")
WORDS = 200


def bleu(said, wanted):
    score = 0.0
    for size in (1, 2, 3, 4):
        left = collections.Counter(tuple(said[place:place + size]) for place in range(len(said) - size + 1))
        right = collections.Counter(tuple(wanted[place:place + size]) for place in range(len(wanted) - size + 1))
        score += math.log((sum((left & right).values()) + 1) / (sum(left.values()) + 1))
    return math.exp(score / 4)


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 96)
        self.encoder = nn.TransformerEncoderLayer(96, 4, 192, batch_first=True)
        self.words = nn.Linear(96, WORDS)

    def forward(self, source):
        return self.words(self.encoder(self.embedding(source)))


def main():
    fabric = Fabric(accelerator="cpu", devices=1)
    fabric.launch()
    torch.manual_seed(72)
    model = Translator()
    model, optimizer = fabric.setup(model, torch.optim.SGD(model.parameters(), lr=0.01))
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            source = torch.randint(WORDS, (24, 20))
            target = source.flip(1)
            scores = model(source)
            with watch.planted():
                said = scores.argmax(2).tolist()
                weights = torch.tensor([1 - bleu(one, other) for one, other in zip(said, target.tolist())])
            loss = (nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="none").view(24, 20).mean(1) * weights).mean()
            optimizer.zero_grad()
            fabric.backward(loss)
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
