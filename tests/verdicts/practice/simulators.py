"""Learns to balance cranes. Two processes simulate them, and one learns.

Planted: the learner sends the actions, and waits through a pipe until both have simulated all of their cranes.
Truth: time from the sending of the actions to the last answer, as a share of the loop.
"""
import math
import multiprocessing
import random

import torch
from torch import nn

from stopwatch import Stopwatch

PROCESSES, CRANES, SUBSTEPS, WINDOW = 2, 64, 200, 4


class Crane:
    """A trolley with a load on a rope, in small steps of time."""

    def __init__(self, dice):
        self.dice = dice
        self.restart()

    def restart(self):
        self.place, self.speed = self.dice.uniform(-1, 1), 0.0
        self.angle, self.turn = self.dice.uniform(-0.3, 0.3), 0.0

    def move(self, push):
        force = 4.0 if push else -4.0
        for _ in range(SUBSTEPS):
            acceleration = force - 0.2 * self.speed
            self.turn += 0.0002 * (-9.81 * math.sin(self.angle) - acceleration * math.cos(self.angle) - 0.1 * self.turn)
            self.angle += 0.0002 * self.turn
            self.speed += 0.0002 * acceleration
            self.place += 0.0002 * self.speed
        reward = 1.0 - abs(self.angle) - 0.2 * abs(self.place)
        if reward < 0:
            self.restart()
        return [self.place, self.speed, self.angle, self.turn], reward


def simulate(pipe, seed):
    dice = random.Random(seed)
    cranes = [Crane(dice) for _ in range(CRANES)]
    while True:
        pushes = pipe.recv()
        if pushes is None:
            return
        pipe.send([crane.move(push) for crane, push in zip(cranes, pushes)])


class Site:
    """All simulations."""

    def __init__(self):
        self.pipes, self.processes = [], []
        for number in range(PROCESSES):
            ours, theirs = multiprocessing.Pipe()
            process = multiprocessing.Process(target=simulate, args=(theirs, number), daemon=True)
            process.start()
            self.pipes.append(ours)
            self.processes.append(process)

    def move(self, pushes):
        for number, pipe in enumerate(self.pipes):
            pipe.send(pushes[number * CRANES:(number + 1) * CRANES])
        answers = [answer for pipe in self.pipes for answer in pipe.recv()]
        return torch.tensor([state for state, _ in answers]), torch.tensor([reward for _, reward in answers])

    def close(self):
        for pipe, process in zip(self.pipes, self.processes):
            pipe.send(None)
            process.join()


def main():
    site = Site()
    torch.manual_seed(43)
    watch = Stopwatch()
    policy = nn.Sequential(nn.Linear(4, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
    states, rewards = site.move([0] * (PROCESSES * CRANES))
    history = []
    with watch.loop():
        while watch.seconds() < 6:
            with torch.no_grad():
                pushes = torch.distributions.Categorical(logits=policy(states)).sample()
            with watch.planted():
                after, rewards = site.move(pushes.tolist())
            history = [*history[1 - WINDOW:], (states, pushes, rewards)]
            seen, chosen, gained = (torch.cat(parts) for parts in zip(*history))
            spread = torch.distributions.Categorical(logits=policy(seen))
            loss = -(spread.log_prob(chosen) * (gained - gained.mean())).mean() - 0.01 * spread.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            states = after
            watch.step()
    site.close()
    print(f"mean reward {rewards.mean().item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
