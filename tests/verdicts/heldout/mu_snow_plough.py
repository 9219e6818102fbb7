"""Drives a snow plough through a small town: REINFORCE with a baseline, sixteen towns are played at a time.

Planted: the towns look for the way to the nearest snow in pure Python, street corner by street corner, for each plough and each move.
Truth: time of these searches, of the loop.
"""
import random
from collections import deque

import torch
from torch import nn
from torch.distributions import Categorical

from stopwatch import Stopwatch

SIDE, TOWNS, MOVES = 18, 16, 16
TURNS = ((0, 1), (1, 0), (0, -1), (-1, 0))
watch = Stopwatch()


class Town:
    def __init__(self, dice):
        self.dice = dice
        self.houses = {(dice.randrange(SIDE), dice.randrange(SIDE)) for _ in range(50)}
        self.begin()

    def begin(self):
        self.snow = {(self.dice.randrange(SIDE), self.dice.randrange(SIDE)) for _ in range(9)} - self.houses
        self.at = (SIDE // 2, SIDE // 2)

    def distances(self):
        """From each corner to the next snow."""
        far, edge = dict.fromkeys(self.snow, 0), deque(self.snow)
        while edge:
            y, x = edge.popleft()
            for down, right in TURNS:
                corner = (y + down, x + right)
                if corner in far or corner in self.houses or not (0 <= corner[0] < SIDE and 0 <= corner[1] < SIDE):
                    continue
                far[corner] = far[y, x] + 1
                edge.append(corner)
        return far

    def look(self):
        with watch.planted():
            far = self.distances()
        y, x = self.at
        near = [far.get((y + down, x + right), 99) for down in range(-3, 4) for right in range(-3, 4)]
        return [min(value, 30) / 30 for value in near]

    def move(self, turn):
        y, x = (here + by for here, by in zip(self.at, TURNS[turn]))
        if (y, x) in self.houses or not (0 <= y < SIDE and 0 <= x < SIDE):
            return -0.2
        self.at = y, x
        if self.at in self.snow:
            self.snow.remove(self.at)
            if not self.snow:
                self.snow = {(1, 1)}
            return 1.0
        return -0.02


class Driver(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(49, 640), nn.Tanh(), nn.Linear(640, 640), nn.Tanh(), nn.Linear(640, 512), nn.Tanh())
        self.turn, self.worth = nn.Linear(512, 4), nn.Linear(512, 1)

    def forward(self, views):
        inner = self.body(views)
        return Categorical(logits=self.turn(inner)), self.worth(inner).squeeze(-1)


def play(towns, driver):
    views, turns, rewards = [], [], []
    for town in towns:
        town.begin()
    for _ in range(MOVES):
        view = torch.tensor([town.look() for town in towns])
        with torch.no_grad():
            turn = driver(view)[0].sample()
        views.append(view)
        turns.append(turn)
        rewards.append(torch.tensor([town.move(t) for town, t in zip(towns, turn.tolist())]))
    returns, later = [], torch.zeros(len(towns))
    for reward in reversed(rewards):
        later = reward + 0.95 * later
        returns.append(later)
    return torch.cat(views), torch.cat(turns), torch.cat(returns[::-1])


def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    dice = random.Random(9)
    towns = [Town(dice) for _ in range(TOWNS)]
    driver = Driver()
    optimizer = torch.optim.Adam(driver.parameters(), lr=2e-4, fused=True)
    with watch.loop():
        while watch.seconds() < 6.5:
            views, turns, returns = play(towns, driver)
            for _ in range(3):  # the same moves serve several times
                chosen, worth = driver(views)
                gain = returns - worth.detach()
                loss = -(chosen.log_prob(turns) * gain).mean() + (worth - returns).pow(2).mean() - 0.01 * chosen.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(driver.parameters(), 1.0)
                optimizer.step()
            watch.step()
    print(f"return {returns.mean().item():.3f}")
    watch.tell()


main()
