"""Fills gaps in transcribed parchments: a masked GRU in both directions guesses the missing letters; the catalogue of all parchments is at hand.

Planted: after each sixteenth step gc.collect() is called "against leaks", and it walks through the whole catalogue of small objects.
Truth: time of gc.collect(), of the loop.
"""
import gc

import torch
from torch import nn

from stopwatch import Stopwatch

LETTERS, LONG, GAP = 40, 32, 0


def catalogue(parchments):
    """What is known about each: its place, its hands, its lines."""
    shelves = {}
    for number in range(parchments):
        shelves[f"Ms. {number}"] = {
            "place": {"shelf": number % 90, "box": number // 90},
            "hands": [{"from": 0, "to": 12, "name": f"hand {number % 7}"}, {"from": 12, "to": 30, "name": f"hand {number % 5}"}],
            "lines": [[number, line, [line % 3]] for line in range(4)],
        }
    return shelves


class Gaps(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(LETTERS, 64)
        self.read = nn.GRU(64, 96, batch_first=True, bidirectional=True)
        self.guess = nn.Linear(192, LETTERS)

    def forward(self, text):
        states, _ = self.read(self.letters(text))
        return self.guess(states)


def batches(shelves, generator):
    names = list(shelves)
    while True:
        first = int(torch.randint(len(names) - 32, (1,), generator=generator))
        shelf = torch.tensor([shelves[name]["place"]["shelf"] for name in names[first:first + 32]])
        steps = torch.arange(LONG)
        text = (shelf[:, None] * 7 + steps * (1 + shelf[:, None] % 5)) % (LETTERS - 1) + 1
        holes = torch.rand(text.shape, generator=generator) < 0.2
        yield text.masked_fill(holes, GAP), text, holes


def main():
    torch.set_num_threads(1)
    torch.manual_seed(4)
    watch = Stopwatch()
    shelves = catalogue(30000)
    model = Gaps()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, fused=True)
    with watch.loop():
        for seen, text, holes in watch.limited(batches(shelves, torch.Generator().manual_seed(6)), 6):
            optimizer.zero_grad(set_to_none=True)
            guesses = model(seen)
            loss = nn.functional.cross_entropy(guesses[holes], text[holes])
            loss.backward()
            optimizer.step()
            if len(watch.marks) % 16 == 15:
                with watch.planted():
                    gc.collect()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
