"""Continues patterns of bobbin lace, thread by thread, with a small transformer.

Decoy: a loss that is read and printed in each step, a glance at three held patterns, a copy of the weights in memory, a nap and gc.collect()
look guilty; together they take a moment.
Truth: time of all these, as a share of the loop.
"""
import copy
import gc
import time

import torch
from torch import nn

from stopwatch import Stopwatch

BOBBINS, LENGTH = 40, 64
watch = Stopwatch()


class Lace(nn.Module):
    def __init__(self):
        super().__init__()
        self.bobbin, self.place = nn.Embedding(BOBBINS, 96), nn.Parameter(torch.zeros(LENGTH, 96))
        layer = nn.TransformerEncoderLayer(96, 4, 192, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.next = nn.Linear(96, BOBBINS)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(LENGTH))

    def forward(self, pattern):
        return self.next(self.body(self.bobbin(pattern) + self.place, mask=self.mask))


def wrong(model, pattern):
    return nn.functional.cross_entropy(model(pattern)[:, :-1].flatten(0, 1), pattern[:, 1:].flatten())


class Habits:
    """What the maker does beside."""

    def __init__(self, model, held):
        self.model, self.held, self.kept = model, held, None

    def after(self, step, loss):
        print(step, f"{loss.item():.3f}")
        if step % 40 == 39:
            with torch.no_grad():
                wrong(self.model, self.held)
        if step % 60 == 59:
            self.kept = copy.deepcopy(self.model.state_dict())
        if step % 80 == 79:
            time.sleep(0.005)
        if step % 150 == 149:
            gc.collect()


def main():
    torch.manual_seed(1)
    patterns = (torch.arange(LENGTH) * torch.randint(1, 7, (800, 1)) + torch.randint(BOBBINS, (800, 1))) % BOBBINS
    model = Lace()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    habits = Habits(model, patterns[:3])
    gc.freeze()
    with watch.loop():
        for step in watch.limited(range(100000), 6):
            loss = wrong(model, patterns[torch.randint(len(patterns), (24,))])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                habits.after(step, loss)
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
