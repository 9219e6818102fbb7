"""Otters learn to hold together in a raft: policy gradients with a baseline over a small simulated bay.

Planted: the policy is asked for each otter and each moment on its own, a batch of one, with its distribution, log-probability and entropy.
Truth: time in which the otters are asked one by one, of the loop.
"""
import math
import random

import torch
from torch import nn
from torch.distributions import Categorical

from stopwatch import Stopwatch

OTTERS, MOMENTS, SENSES, WIDTH = 6, 10, 8, 256
MOVES = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)]


class Bay:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.reset()

    def reset(self):
        self.at = [[self.random.uniform(-4, 4), self.random.uniform(-4, 4)] for _ in range(OTTERS)]
        self.current = self.random.uniform(0, 2 * math.pi)

    def middle(self):
        return sum(x for x, _ in self.at) / OTTERS, sum(y for _, y in self.at) / OTTERS

    def senses(self, otter):
        (x, y), (mx, my) = self.at[otter], self.middle()
        return [x / 4, y / 4, (mx - x) / 4, (my - y) / 4, math.sin(self.current), math.cos(self.current), otter / OTTERS, 1.0]

    def swim(self, moves):
        for place, move in zip(self.at, moves):
            place[0] += 0.4 * MOVES[move][0] + 0.2 * math.cos(self.current)
            place[1] += 0.4 * MOVES[move][1] + 0.2 * math.sin(self.current)
        mx, my = self.middle()
        return [-math.hypot(x - mx, y - my) for x, y in self.at]


class Otter(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(SENSES, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh())
        self.move, self.value = nn.Linear(WIDTH, len(MOVES)), nn.Linear(WIDTH, 1)

    def forward(self, senses):
        body = self.body(senses)
        return self.move(body), self.value(body).squeeze(-1)


class Raft:
    """What is remembered of earlier days, a ring."""

    def __init__(self, size=4096):
        self.senses, self.moves, self.gains = torch.zeros(size, SENSES), torch.zeros(size, dtype=torch.long), torch.zeros(size)
        self.old = torch.full((size,), -1.6)
        self.next = 0

    def keep(self, senses, move, old, gain):
        slot = self.next % len(self.gains)
        self.senses[slot], self.moves[slot], self.old[slot], self.gains[slot] = senses, move, old, gain
        self.next += 1


def day(bay, otter, raft, watch):
    bay.reset()
    story = []
    for _ in range(MOMENTS):
        moves = []
        with watch.planted(), torch.no_grad():
            for number in range(OTTERS):
                senses = torch.tensor([bay.senses(number)])
                logits, _ = otter(senses)
                chance = Categorical(logits=logits)
                move = chance.sample()
                story.append([senses[0], move.item(), chance.log_prob(move).item(), 0.0])
                moves.append(move.item())
        for row, gain in zip(story[-OTTERS:], bay.swim(moves)):
            row[3] = gain
    for row in story:
        raft.keep(*row)


def main():
    torch.manual_seed(4)
    torch.set_num_threads(1)
    bay, otter, raft, watch = Bay(6), Otter(), Raft(), Stopwatch()
    optimizer = torch.optim.Adam(otter.parameters(), lr=1e-4, fused=True)
    with watch.loop():
        for _ in watch.limited(range(100000), 6):
            day(bay, otter, raft, watch)
            pick = torch.randint(0, len(raft.gains), (1024,))
            logits, value = otter(raft.senses[pick])
            chance = Categorical(logits=logits)
            gain = raft.gains[pick] / 4
            ratio = (chance.log_prob(raft.moves[pick]) - raft.old[pick]).exp()
            better = (gain - value).detach()
            loss = -torch.minimum(ratio * better, ratio.clamp(0.8, 1.2) * better).mean() + (gain - value).square().mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


main()
