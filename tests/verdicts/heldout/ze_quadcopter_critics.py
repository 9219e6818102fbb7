"""Learns to hover with a quadcopter: an actor and ten critics, of which two judge each target (randomized ensembles).

Planted: the ten late critics follow the ten critics weight by weight, with four operators for each of their sixty tensors.
Truth: time of letting the late critics follow, of the loop.
"""
import copy
import random

import torch
from torch import nn
from torch.nn import functional

from stopwatch import Stopwatch

SENSORS, ROTORS, UNITS, CRITICS, BATCH, MEMORY = 16, 4, 96, 10, 64, 20000


def critic():
    return nn.Sequential(nn.Linear(SENSORS + ROTORS, UNITS), nn.ReLU(), nn.Linear(UNITS, UNITS), nn.ReLU(), nn.Linear(UNITS, 1))


class Memory:
    """Everything in tensors that were made before."""

    def __init__(self):
        self.seen, self.turned = torch.zeros(MEMORY, SENSORS), torch.zeros(MEMORY, ROTORS)
        self.reward, self.later, self.size = torch.zeros(MEMORY, 1), torch.zeros(MEMORY, SENSORS), 0

    def add(self, seen, turned, reward, later):
        at = torch.arange(self.size, self.size + len(seen)) % MEMORY
        self.seen[at], self.turned[at], self.reward[at], self.later[at] = seen, turned, reward, later
        self.size += len(seen)

    def draw(self):
        at = torch.randint(0, min(self.size, MEMORY), (BATCH,))
        return self.seen[at], self.turned[at], self.reward[at], self.later[at]


class Air:
    def __init__(self):
        self.state = torch.randn(32, SENSORS)
        self.thrust = torch.randn(ROTORS, SENSORS) * 0.2

    def fly(self, turned):
        before = self.state
        self.state = 0.97 * before + torch.tanh(turned) @ self.thrust + 0.02 * torch.randn_like(before)
        return before, -self.state.square().mean(1, keepdim=True), self.state


class Ensemble:
    def __init__(self, tau):
        self.critics = nn.ModuleList(critic() for _ in range(CRITICS))
        self.late = copy.deepcopy(self.critics).requires_grad_(False)
        self.tau = tau

    def target(self, later, turned):
        x = torch.cat([later, turned], 1)
        return torch.min(*(self.late[k](x) for k in random.sample(range(CRITICS), 2)))

    def follow(self):
        for mine, late in zip(self.critics, self.late):
            for source, copied in zip(mine.parameters(), late.parameters()):
                copied.data.copy_(self.tau * source.data + (1 - self.tau) * copied.data)


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    actor = nn.Sequential(nn.Linear(SENSORS, UNITS), nn.ReLU(), nn.Linear(UNITS, ROTORS))
    ensemble, memory, air, watch = Ensemble(0.005), Memory(), Air(), Stopwatch()
    optimizer = torch.optim.Adam([*actor.parameters(), *ensemble.critics.parameters()], lr=3e-4, fused=True)
    with watch.loop():
        while watch.seconds() < 6.5:
            with torch.no_grad():
                turned = actor(air.state) + 0.1 * torch.randn(32, ROTORS)
            before, reward, later = air.fly(turned)
            memory.add(before, turned, reward, later)
            seen, turned, reward, later = memory.draw()
            with torch.no_grad():
                target = reward + 0.98 * ensemble.target(later, actor(later))
            x = torch.cat([seen, turned], 1)
            loss = sum(functional.mse_loss(judge(x), target) for judge in ensemble.critics)
            loss = loss - 0.1 * ensemble.critics[0](torch.cat([seen, actor(seen)], 1)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with watch.planted():
                ensemble.follow()
            watch.step()
    print(f"loss {loss.item():.4f}, {memory.size} moments")
    watch.tell()


if __name__ == "__main__":
    main()
