"""Lands probes on an asteroid with a deep Q-network and a prioritised memory.

Planted: the memory is a list that only grows, and the priorities of all of it are computed in Python for each batch.
Truth: time of drawing from the memory, of the loop.
"""
import random
from typing import NamedTuple

import torch
from torch import nn

from stopwatch import Stopwatch

PROBES, ACTIONS, BATCH, DISCOUNT = 256, 4, 256, 0.98
THRUST = torch.tensor([[0.0, 0.0], [0.0, 0.04], [-0.02, 0.01], [0.02, 0.01]])


class Experience(NamedTuple):
    before: torch.Tensor
    action: int
    reward: float
    after: torch.Tensor
    error: float


class Asteroid:
    """All probes at once: place, speed, and the slope below."""

    def __init__(self):
        self.state = self.start(PROBES)

    @staticmethod
    def start(count):
        return torch.cat([torch.rand(count, 2) + 0.5, 0.1 * torch.randn(count, 2), torch.randn(count, 2)], 1)

    def move(self, actions):
        state = self.state.clone()
        state[:, 2:4] += THRUST[actions] - torch.tensor([0.0, 0.02])
        state[:, :2] += state[:, 2:4]
        landed = state[:, 1] <= 0
        reward = torch.where(landed, 1 - state[:, 2:4].norm(dim=1) * 4, -0.01 * state[:, 0].abs())
        self.state = torch.where(landed[:, None], self.start(PROBES), state)
        return reward, state


class Memory:
    def __init__(self):
        self.items = []

    def add(self, before, actions, rewards, after):
        for item in zip(before.unbind(), actions.tolist(), rewards.tolist(), after.unbind()):
            self.items.append(Experience(*item, abs(item[2]) + 0.1))

    def draw(self, count):
        weights = [item.error ** 0.6 for item in self.items]
        chosen = random.choices(self.items, weights, k=count)
        return (torch.stack([item.before for item in chosen]), torch.tensor([item.action for item in chosen]),
                torch.tensor([item.reward for item in chosen]), torch.stack([item.after for item in chosen]))


def network():
    return nn.Sequential(nn.Linear(6, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, ACTIONS))


def main():
    torch.manual_seed(25)
    random.seed(25)
    watch, world, memory = Stopwatch(), Asteroid(), Memory()
    values, target = network(), network()
    target.load_state_dict(values.state_dict())
    optimizer = torch.optim.Adam(values.parameters(), lr=5e-4)
    step = 0
    with watch.loop():
        while watch.seconds() < 6:
            before = world.state
            with torch.no_grad():
                actions = values(before).argmax(1)
            explore = torch.rand(PROBES) < max(0.05, 1 - step / 200)
            actions = torch.where(explore, torch.randint(0, ACTIONS, (PROBES,)), actions)
            memory.add(before, actions, *world.move(actions))
            with watch.planted():
                states, taken, rewards, following = memory.draw(BATCH)
            with torch.no_grad():
                wanted = rewards + DISCOUNT * target(following).amax(1)
            loss = nn.functional.smooth_l1_loss(values(states).gather(1, taken[:, None])[:, 0], wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 50 == 0:
                target.load_state_dict(values.state_dict())
            watch.step()
    watch.tell(memories=len(memory.items))


if __name__ == "__main__":
    main()
