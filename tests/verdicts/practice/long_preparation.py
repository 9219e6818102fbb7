"""Trains a language model after it has made its vocabulary and waited for a licence server.

Decoy of slow Python and of waiting: three seconds of both, but before the loop.
Truth: time of drawing batches, as a share of the loop. `before_s`: the preparation.
"""
import collections
import random
import time

import torch
from torch import nn

from stopwatch import Stopwatch


def make_corpus(seconds):
    rng = random.Random(30)
    words = [f"{rng.choice('bcdfgh')}{rng.choice('aeiou')}{rng.randrange(300)}" for _ in range(60_000)]
    counts = collections.Counter()
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        for word in words:
            counts[word[:-1] if word.endswith("7") else word] += 1
    known = {word: number for number, (word, _) in enumerate(counts.most_common(3000))}
    return torch.tensor([known.get(word, 0) for word in words])


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(3000, 160)
        layer = nn.TransformerEncoderLayer(160, 4, 480, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(160, 3000)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.out(self.layers(self.embedding(tokens), mask=mask, is_causal=True))


def main():
    torch.manual_seed(30)
    began = time.perf_counter()
    corpus = make_corpus(1.8)
    time.sleep(1.2)
    before_s = time.perf_counter() - began
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 8:
            with watch.planted():
                starts = torch.randint(len(corpus) - 65, (8, 1))
                text = corpus[starts + torch.arange(65)]
            loss = nn.functional.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell(before_s=round(before_s, 2))


if __name__ == "__main__":
    main()
