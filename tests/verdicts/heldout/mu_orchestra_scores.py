"""Predicts the next chord of a symphony from its score: scores are trees of Python objects, batches are made of them beforehand.

Planted: a callback collects garbage after each third batch "so that memory does not creep up", with all scores' objects on the heap.
Truth: time of collecting garbage, of the loop.
"""
import gc

import torch
from torch import nn

from stopwatch import Stopwatch

VOICES, BACK, CHORDS = 12, 32, 128


class Note:
    def __init__(self, pitch, length, marks):
        self.pitch, self.length, self.marks = pitch, length, marks


class Score:
    """Bars of notes, each with its marks; conductors' tools walk over them later."""

    def __init__(self, seed, bars=60):
        self.bars = [[Note((seed * 7 + bar * 5 + v * 3) % CHORDS, 1 + v % 4, {"bow": [v % 2], "loud": bar % 5}) for v in range(VOICES)]
                     for bar in range(bars)]

    def tensor(self):
        return torch.tensor([[note.pitch for note in bar] for bar in self.bars])


class Callback:
    def after_batch(self, trainer):
        pass


class History(Callback):
    def __init__(self):
        self.losses = []

    def after_batch(self, trainer):
        self.losses.append(trainer.loss.item())


class Tidy(Callback):
    def __init__(self, every=3):
        self.every, self.batches = every, 0

    def after_batch(self, trainer):
        self.batches += 1
        if self.batches % self.every == 0:
            with trainer.watch.planted():
                gc.collect()


class Trainer:
    def __init__(self, model, callbacks, watch):
        self.model, self.callbacks, self.watch = model, callbacks, watch
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
        self.loss = None

    def fit(self, batches, seconds):
        while True:
            for bars, following in batches:
                self.loss = nn.functional.cross_entropy(self.model(bars), following)
                self.optimizer.zero_grad()
                self.loss.backward()
                self.optimizer.step()
                for callback in self.callbacks:
                    callback.after_batch(self)
                self.watch.step()
                if self.watch.seconds() > seconds:
                    return


class Next(nn.Module):
    def __init__(self):
        super().__init__()
        self.pitch = nn.EmbeddingBag(CHORDS, 192, mode="sum")
        self.along = nn.GRU(192, 256, batch_first=True)
        self.name = nn.Linear(256, CHORDS)

    def forward(self, bars):
        many, back, voices = bars.shape
        chords = self.pitch(bars.reshape(-1, voices)).view(many, back, -1)
        return self.name(self.along(chords)[0][:, -1])


def main():
    torch.manual_seed(7)
    torch.set_num_threads(1)
    watch = Stopwatch()
    scores = [Score(seed) for seed in range(60)]
    rolls = torch.stack([score.tensor() for score in scores])
    batches = []
    for start in range(0, 60 - BACK - 1, 2):
        batches.append((rolls[:, start:start + BACK].contiguous(), rolls[:, start + BACK, 0].contiguous()))
    history = History()
    trainer = Trainer(Next(), [history, Tidy()], watch)
    with watch.loop():
        trainer.fit(batches, 6.5)
    print(f"{len(scores)} scores, loss {history.losses[-1]:.3f}")
    watch.tell()


main()
