"""Dispatches lifts by deep Q-learning: a simulator in Python makes two transitions between two updates.

Planted: nothing. There is a simulator in Python, a replay memory that is filled row by row, an exception for each full lift and a copy of
the network in each 60th step; all of that takes a moment.
Truth: time of these, as a share of the loop.
"""
import copy
import random

import torch
from torch import nn

from stopwatch import Stopwatch

FLOORS, LIFTS, BATCH, WIDTH = 16, 3, 256, 768
STATE, KEPT = FLOORS + 2 * LIFTS, 4000


class LiftIsFull(Exception):
    pass


class Building:
    def __init__(self):
        self.waiting, self.floors, self.loads = [0] * FLOORS, [0] * LIFTS, [0] * LIFTS

    def seen(self):
        return [*self.waiting, *self.floors, *self.loads]

    def board(self, lift):
        if self.loads[lift] + self.waiting[self.floors[lift]] > 8:
            raise LiftIsFull(lift)
        self.loads[lift] += self.waiting[self.floors[lift]]
        self.waiting[self.floors[lift]] = 0

    def move(self, action):
        lift, way = divmod(action, 2)
        self.floors[lift] = min(FLOORS - 1, max(0, self.floors[lift] + (1 if way else -1)))
        self.waiting[random.randrange(FLOORS)] += random.random() < 0.4
        try:
            self.board(lift)
        except LiftIsFull:
            self.loads[lift] = 0
            return -1.0
        return -0.01 * sum(self.waiting)


class Memory:
    def __init__(self):
        self.rows, self.made = torch.zeros(KEPT, 2 * STATE + 2), 0

    def keep(self, before, action, reward, after):
        self.rows[self.made % KEPT] = torch.tensor([*before, action, reward, *after])
        self.made += 1

    def sample(self):
        rows = self.rows[torch.randint(min(self.made, KEPT), (BATCH,))]
        return rows[:, :STATE], rows[:, STATE].long(), rows[:, STATE + 1], rows[:, STATE + 2:]


def network():
    return nn.Sequential(nn.Linear(STATE, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 2 * LIFTS))


def main():
    torch.manual_seed(1)
    random.seed(1)
    watch, building = Stopwatch(), Building()
    online = network()
    target = copy.deepcopy(online)
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-4)
    memory = Memory()
    for _ in range(2 * BATCH):
        before, action = building.seen(), random.randrange(2 * LIFTS)
        memory.keep(before, action, building.move(action), building.seen())
    with watch.loop():
        while watch.seconds() < 6.5:
            with watch.planted():
                for _ in range(2):
                    before, action = building.seen(), random.randrange(2 * LIFTS)
                    memory.keep(before, action, building.move(action), building.seen())
                before, action, reward, after = memory.sample()
                if len(watch.marks) % 60 == 59:
                    target = copy.deepcopy(online)
            value = online(before).gather(1, action[:, None]).squeeze(1)
            with torch.no_grad():
                wanted = reward + 0.97 * target(after).max(1).values
            loss = nn.functional.smooth_l1_loss(value, wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
