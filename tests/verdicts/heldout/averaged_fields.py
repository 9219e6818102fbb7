"""Outlines fields on pictures from a satellite.

Decoy: after each step a Python loop clips gradients, looks for NaN and averages the weights, and each fortieth step
saves them; but the network is small in weights and large in work. Truth: time of all of these, of the loop.
"""
import copy
import os
import tempfile

import torch
from torch import nn

from stopwatch import Stopwatch

BATCH, WIDTH, EDGE = 20, 48, 24


class Outline(nn.Module):
    def __init__(self):
        super().__init__()
        self.see = nn.Sequential(nn.Conv2d(4, WIDTH, 3, padding=1), nn.ReLU(), nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.ReLU())
        self.inside = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.ReLU(),
                                    nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.ReLU(), nn.Upsample(scale_factor=2))
        self.draw = nn.Sequential(nn.Conv2d(2 * WIDTH, WIDTH, 3, padding=1), nn.ReLU(), nn.Conv2d(WIDTH, 1, 1))

    def forward(self, picture):
        seen = self.see(picture)
        return self.draw(torch.cat([seen, self.inside(seen)], 1))


class Average:
    """Weights that follow the trained ones slowly."""

    def __init__(self, model, decay=0.995):
        self.model, self.decay = copy.deepcopy(model), decay

    @torch.no_grad()
    def follow(self, model):
        for slow, fast in zip(self.model.parameters(), model.parameters()):
            slow.mul_(self.decay).add_(fast, alpha=1 - self.decay)


def clip(model, limit=5.0):
    """By hand, since the library's does not tell which layer is broken."""
    for name, param in model.named_parameters():
        if torch.isnan(param.grad).any():
            raise FloatingPointError(f"the gradient of {name} is not a number")
        length = param.grad.norm().item()
        if length > limit:
            param.grad.mul_(limit / length)


def pictures(count=160):
    """Four bands; a field is a rectangle that is greener."""
    bands, fields = torch.rand(count, 4, EDGE, EDGE), torch.zeros(count, 1, EDGE, EDGE)
    for number in range(count):
        top, left = number % 11, number % 13
        fields[number, :, top:top + 9, left:left + 8] = 1
    return bands + 0.5 * fields, fields


def main():
    torch.manual_seed(31)
    watch = Stopwatch()
    bands, fields = pictures()
    model = Outline()
    average, optimizer = Average(model), torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    step = 0
    with tempfile.TemporaryDirectory() as folder, watch.loop():
        while watch.seconds() < 6:
            first = step * BATCH % len(bands)
            loss = nn.functional.binary_cross_entropy_with_logits(model(bands[first:first + BATCH]), fields[first:first + BATCH])
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                clip(model)
            optimizer.step()
            with watch.planted():
                average.follow(model)
                if step % 40 == 39:
                    torch.save(average.model.state_dict(), os.path.join(folder, f"average-{step}.pt"))
            step += 1
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
