"""Predicts the sediment of a canyon from terrain and rain.

Decoy: tokens of the field notes are split with a regular expression, the gradient is clipped by hand, and the best
weights are copied deeply after a short validation each 60th step. None of it takes long.
Truth: time of all three, of the loop.
"""
import copy
import re

import torch
from torch import nn

from stopwatch import Stopwatch

BATCH, EDGE = 8, 40
WORD = re.compile(r"[a-z]+|\d+(?:\.\d+)?")
NOTES = ["silt 0.4 after rain, north wall", "coarse gravel below the ford 12", "clay, red; no flow since 3 weeks", "boulders 1.5 wide"]


class Sediment(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.words = nn.EmbeddingBag(256, width)
        self.terrain = nn.Sequential(nn.Conv2d(4, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
                                     nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU())
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, terrain, words, offsets):
        return self.out(self.terrain(terrain) + self.words(words, offsets)[:, :, None, None]).squeeze(1)


def read_notes(number):
    ids, offsets = [], []
    for at in range(BATCH):
        offsets.append(len(ids))
        ids += [sum(map(ord, word)) % 256 for word in WORD.findall(NOTES[(number + at) % len(NOTES)])]
    return torch.tensor(ids), torch.tensor(offsets)


def clip(parameters, most):
    total = torch.stack([parameter.grad.norm() for parameter in parameters]).norm()
    if total > most:
        for parameter in parameters:
            parameter.grad.mul_(most / total)


def main():
    torch.manual_seed(20)
    watch = Stopwatch()
    terrain, sediment = torch.randn(20, BATCH, 4, EDGE, EDGE), torch.rand(20, BATCH, EDGE, EDGE)
    model = Sediment()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    best, kept, step = float("inf"), None, 0
    with watch.loop():
        while watch.seconds() < 7:
            with watch.planted():
                words, offsets = read_notes(step)
            loss = nn.functional.mse_loss(model(terrain[step % 19], words, offsets), sediment[step % 19])
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                clip(list(model.parameters()), 1.0)
            optimizer.step()
            step += 1
            if step % 60 == 0:
                with watch.planted(), torch.no_grad():
                    error = nn.functional.mse_loss(model(terrain[19], words, offsets), sediment[19]).item()
                    if error < best:
                        best, kept = error, copy.deepcopy(model.state_dict())
            watch.step()
    print(f"best {best:.4f} with {len(kept or ())} tensors")
    watch.tell()


if __name__ == "__main__":
    main()
