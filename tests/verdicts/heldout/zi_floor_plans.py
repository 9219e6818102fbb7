"""Names the rooms of drawn floor plans: a stack of convolutions with normalised channels gives each spot its room. Inference, steps marked with dwell.step().

Planted: to normalise over channels, each block puts them last by a copy and puts them back by another, three times in a block.
Truth: time of the copies, of the loop.
"""
import contextlib
import time

import torch
from torch import nn

from stopwatch import Stopwatch

try:
    from dwell import record_function, step
except ImportError:  # not installed here
    record_function = contextlib.nullcontext

    def step():
        pass

ROOMS, SIDE, PLANS = 9, 80, 2
watch = Stopwatch()


def last(maps):
    began = time.perf_counter()
    maps = maps.permute(0, 2, 3, 1).contiguous()
    watch.planted_s += time.perf_counter() - began
    return maps


def back(maps):
    began = time.perf_counter()
    maps = maps.permute(0, 3, 1, 2).contiguous()
    watch.planted_s += time.perf_counter() - began
    return maps


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.look = nn.Conv2d(width, width, 5, padding=2, groups=width)
        self.before, self.inside, self.after = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix = nn.Conv2d(width, width, 1)

    def forward(self, maps):
        new = self.look(back(self.before(last(maps))))
        new = torch.relu_(back(self.inside(last(new))))
        return maps + back(self.after(last(self.mix(new))))


class Rooms(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.ink = nn.Conv2d(1, width, 3, padding=1)
        self.blocks = nn.ModuleList(Block(width) for _ in range(4))
        self.room = nn.Conv2d(width, ROOMS, 1)

    def forward(self, plans):
        with record_function("ink"):
            maps = self.ink(plans)
        for number, each in enumerate(self.blocks):
            with record_function(f"block {number}"):
                maps = each(maps)
        with record_function("rooms"):
            return self.room(maps).argmax(1)


def drawn(count):
    plans = torch.zeros(count, 1, SIDE, SIDE)
    for plan in plans:
        for wall in torch.randint(4, SIDE - 4, (7, 2)).tolist():
            plan[0, wall[0]] = 1
            plan[0, :, wall[1]] = 1
    return plans


@torch.inference_mode()
def main():
    torch.manual_seed(12)
    torch.set_num_threads(1)
    model, plans = Rooms().eval(), drawn(24)
    found = torch.zeros(ROOMS, dtype=torch.long)
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            step()
            rooms = model(plans[number % 6 * PLANS:][:PLANS])
            found += torch.bincount(rooms.flatten(), minlength=ROOMS)
            watch.step()
    print("rooms", found.tolist()[:3])
    watch.tell()


main()
