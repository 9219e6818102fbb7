"""A courier robot learns to bring boxes to shelves: advantage actor-critic over a floor plan with walls, the
environment in Python, eight couriers at once.

Planted: the reward is the shortest way to the shelf, and each move searches it anew over the whole floor, breadth first.
Truth: time of these searches, of the loop.
"""
import collections
import random

import torch
from torch import nn

from stopwatch import Stopwatch

SIDE, COURIERS, HORIZON = 20, 8, 12
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))
watch = Stopwatch()


class Floor:
    """A grid with walls; a courier, and the shelf that it has to reach."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.walls = {(x, y) for x in range(3, SIDE, 4) for y in range(SIDE) if (y + x) % 6}
        self.reset()

    def free_place(self):
        while True:
            place = self.chance.randrange(SIDE), self.chance.randrange(SIDE)
            if place not in self.walls:
                return place

    def reset(self):
        self.at, self.shelf, self.left = self.free_place(), self.free_place(), 60
        return self.look()

    def distance(self, place):
        ways, queue = {place: 0}, collections.deque([place])
        while queue:
            here = queue.popleft()
            for dx, dy in MOVES:
                there = here[0] + dx, here[1] + dy
                if there in ways or there in self.walls or not (0 <= there[0] < SIDE and 0 <= there[1] < SIDE):
                    continue
                ways[there] = ways[here] + 1
                queue.append(there)
        return ways.get(self.shelf, 2 * SIDE)

    def look(self):
        seen = [float((self.at[0] + dx, self.at[1] + dy) in self.walls) for dx in range(-3, 4) for dy in range(-3, 4)]
        return seen + [self.at[0] / SIDE, self.at[1] / SIDE, self.shelf[0] / SIDE, self.shelf[1] / SIDE]

    def step(self, move):
        with watch.planted():
            before = self.distance(self.at)
        there = self.at[0] + MOVES[move][0], self.at[1] + MOVES[move][1]
        if there not in self.walls and 0 <= there[0] < SIDE and 0 <= there[1] < SIDE:
            self.at = there
        with watch.planted():
            after = self.distance(self.at)
        self.left -= 1
        done = self.at == self.shelf or self.left == 0
        return (self.reset() if done else self.look()), before - after - 0.05, done


class Courier(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(53, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
                                  nn.Linear(width, width), nn.SiLU())
        self.policy, self.value = nn.Linear(width, len(MOVES)), nn.Linear(width, 1)

    def forward(self, seen):
        hidden = self.body(seen)
        return torch.distributions.Categorical(logits=self.policy(hidden)), self.value(hidden).squeeze(-1)


def main():
    torch.manual_seed(2)
    floors, model = [Floor(seed) for seed in range(COURIERS)], Courier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    seen = torch.tensor([floor.look() for floor in floors])
    total = 0.0
    with watch.loop():
        while watch.seconds() < 6.5:
            looks, moves, rewards, ends = [], [], [], []
            for _ in range(HORIZON):
                with torch.no_grad():
                    move = model(seen)[0].sample()
                answers = [floor.step(m) for floor, m in zip(floors, move.tolist())]
                looks.append(seen)
                moves.append(move)
                rewards.append(torch.tensor([a[1] for a in answers]))
                ends.append(torch.tensor([float(a[2]) for a in answers]))
                seen = torch.tensor([a[0] for a in answers])
            with torch.no_grad():
                value = model(seen)[1]
            returns = []
            for reward, end in zip(reversed(rewards), reversed(ends)):
                value = reward + 0.97 * value * (1 - end)
                returns.append(value)
            returns, looks, moves = torch.cat(returns[::-1]), torch.cat(looks), torch.cat(moves)
            for _ in range(6):
                policy, value = model(looks)
                advantage = returns - value
                loss = advantage.pow(2).mean() / 2 - (policy.log_prob(moves) * advantage.detach()).mean() - 0.01 * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total = sum(r.sum().item() for r in rewards)
            watch.step()
    print(f"reward {total:.1f}")
    watch.tell()


if __name__ == "__main__":
    main()
