"""Continues viola phrases: a GRU over notes predicts the next pitch and length, with Ignite; the library of phrases is
kept as plain objects, with links from each note to the next, as the reader of MusicXML makes them.

Planted: a handler of every 16th iteration calls gc.collect(), because memory once ran out, and the library is large.
Truth: time of these collections, of the loop.
"""
import gc
import random

import torch
from ignite.engine import Engine, Events
from ignite.metrics import RunningAverage
from torch import nn

from stopwatch import Stopwatch

PITCHES, LENGTHS, PHRASE, BATCH = 60, 8, 32, 32


class Note:
    __slots__ = ("pitch", "length", "bar", "follows", "ties")

    def __init__(self, pitch, length, bar, follows):
        self.pitch, self.length, self.bar, self.follows, self.ties = pitch, length, bar, follows, []


def read_library(count=1500):
    chance, library = random.Random(4), []
    for _ in range(count):
        bar, note, phrase = {"metre": (3, 4)}, None, []
        pitch = chance.randrange(20, 40)
        for place in range(PHRASE + 1):
            pitch = min(PITCHES - 1, max(0, pitch + chance.choice((-4, -2, -1, 0, 1, 2, 3))))
            note = Note(pitch, chance.randrange(LENGTHS) if place % 4 else 2, bar, note)
            phrase.append(note)
        library.append(phrase)
    return library


class Continue(nn.Module):
    def __init__(self, width=160):
        super().__init__()
        self.pitch, self.length = nn.Embedding(PITCHES, 32), nn.Embedding(LENGTHS, 8)
        self.rnn = nn.GRU(40, width, batch_first=True)
        self.next_pitch, self.next_length = nn.Linear(width, PITCHES), nn.Linear(width, LENGTHS)

    def forward(self, pitch, length):
        out, _ = self.rnn(torch.cat([self.pitch(pitch), self.length(length)], 2))
        return self.next_pitch(out), self.next_length(out)


def rehearsals(library):
    """Tensors of all phrases once; batches are rows of them."""
    pitch = torch.tensor([[note.pitch for note in phrase] for phrase in library])
    length = torch.tensor([[note.length for note in phrase] for phrase in library])
    return list(zip(pitch.split(BATCH), length.split(BATCH)))


def main():
    torch.manual_seed(1)
    library = read_library()
    batches, model, watch = rehearsals(library), Continue(), Stopwatch()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)

    def practise(engine, batch):
        pitch, length = batch
        optimizer.zero_grad()
        p, d = model(pitch[:, :-1], length[:, :-1])
        loss = nn.functional.cross_entropy(p.flatten(0, 1), pitch[:, 1:].flatten())
        loss = loss + 0.5 * nn.functional.cross_entropy(d.flatten(0, 1), length[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    trainer = Engine(practise)
    RunningAverage(output_transform=lambda loss: loss).attach(trainer, "loss")

    @trainer.on(Events.ITERATION_COMPLETED(every=16))
    def tidy(engine):
        with watch.planted():
            gc.collect()

    @trainer.on(Events.ITERATION_COMPLETED)
    def limit(engine):
        watch.step()
        if watch.seconds() > 6.5:
            engine.terminate()

    with watch.loop():
        trainer.run(batches, max_epochs=100)
    print(f"loss {trainer.state.metrics.get('loss', 0):.3f}, {sum(map(len, library))} notes")
    watch.tell()


if __name__ == "__main__":
    main()
