"""Learns which violin maker's varnish a recipe is: words of recipes are embedded and a small network names the workshop.

Planted: a keeper saves the weights and the optimizer's moments whenever the smoothed loss is the best so far, which is at almost each look, after each third step.
Truth: time of saving, of the loop.
"""
import os
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch

WORDS, WORKSHOPS, LENGTH, BATCH = 40000, 60, 48, 64
watch = Stopwatch()


class Keeper:
    """Looks at the loss each third step; keeps the best state in a file that is replaced as a whole."""

    def __init__(self, folder, **parts):
        self.path, self.parts = os.path.join(folder, "best.pt"), parts
        self.smooth = self.best = None
        self.saved = 0

    def look(self, step, loss):
        self.smooth = loss if self.smooth is None else 0.98 * self.smooth + 0.02 * loss
        if step % 3 or (self.best is not None and self.smooth > self.best + 1.0):
            return
        self.best = self.smooth if self.best is None else min(self.best, self.smooth)
        with watch.planted():
            torch.save({name: part.state_dict() for name, part in self.parts.items()}, self.path + ".part")
            os.replace(self.path + ".part", self.path)
        self.saved += 1


class Recipes(nn.Module):
    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(WORDS, 64)
        self.read = nn.LSTM(64, 128, batch_first=True)
        self.say = nn.Sequential(nn.Linear(128, 256), nn.SiLU(), nn.Linear(256, WORKSHOPS))

    def forward(self, words):
        read, _ = self.read(self.word(words))
        return self.say(read.amax(1))


def main():
    torch.manual_seed(4)
    torch.set_num_threads(1)
    words = torch.randint(0, WORDS, (2048, LENGTH))
    workshop = words[:, 0] % WORKSHOPS
    model = Recipes()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    with tempfile.TemporaryDirectory() as folder:
        keeper = Keeper(folder, model=model, optimizer=optimizer)
        with watch.loop():
            step = 0
            while watch.seconds() < 6.5:
                at = torch.randint(0, len(words), (BATCH,))
                loss = nn.functional.cross_entropy(model(words[at]), workshop[at])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
                keeper.look(step, loss.item())
                watch.step()
    print(f"saved {keeper.saved} times, loss {keeper.best:.3f}")
    watch.tell()


main()
