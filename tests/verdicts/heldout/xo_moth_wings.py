"""Sorts photographs of moths by the pattern of their wings: a residual network of 1 x 1 and depthwise convolutions.

Planted: a forward hook keeps a diary of each block's mean values, channel by channel, as lines of JSON with 6 digits.
Truth: time in the hook, of the loop.
"""
import json
import logging

import torch
from torch import nn

from stopwatch import Stopwatch

SPECIES, CHANNELS, BATCH = 20, 48, 24


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.near = nn.Conv2d(width, width, 3, padding=1, groups=width)
        self.wide = nn.Conv2d(width, 3 * width, 1)
        self.narrow = nn.Conv2d(3 * width, width, 1)

    def forward(self, x):
        return x + self.narrow(torch.relu(self.wide(self.near(x))))


class Moths(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Conv2d(3, CHANNELS, 4, stride=4)
        self.blocks = nn.ModuleList(Block(CHANNELS) for _ in range(3))
        self.leave = nn.Linear(CHANNELS, SPECIES)

    def forward(self, x):
        x = self.enter(x)
        for block in self.blocks:
            x = block(x)
        return self.leave(x.mean((2, 3)))


class Diary:
    """What the blocks see, for a page that somebody may want to draw."""

    def __init__(self, watch):
        self.watch = watch
        self.log = logging.getLogger("diary")
        handler = logging.FileHandler("moths.jsonl", mode="w")
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        self.log.addHandler(handler)
        self.log.propagate = False
        self.log.setLevel(logging.INFO)

    def follow(self, name, block):
        block.register_forward_hook(lambda module, inputs, output: self.write(name, output))

    def write(self, name, output):
        with self.watch.planted():
            means = output.detach().mean((2, 3)).tolist()
            for picture, channels in enumerate(means):
                self.log.info(json.dumps({"block": name, "picture": picture,
                                          "channels": {f"c{c}": round(value, 6) for c, value in enumerate(channels)}}))


def main():
    torch.manual_seed(19)
    torch.set_num_threads(1)
    model, watch = Moths(), Stopwatch()
    diary = Diary(watch)
    for number, block in enumerate(model.blocks):
        diary.follow(f"block {number}", block)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    pictures, species = torch.randn(20, BATCH, 3, 32, 32), torch.randint(SPECIES, (20, BATCH))
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            loss = nn.functional.cross_entropy(model(pictures[number % 20]), species[number % 20])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
