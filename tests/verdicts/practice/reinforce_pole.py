"""Learns to balance a pole by REINFORCE, with a return of 64 moves for each update.

Planted: the policy is asked for one move at a time, so most of a step is the call of small operators and the physics in Python.
Truth: time of playing, as a share of the loop.
"""
import math

import torch
from torch import nn

from stopwatch import Stopwatch


class Pole:
    def __init__(self):
        self.x = self.speed = self.spin = 0.0
        self.angle = 0.05

    def move(self, push):
        force = 10.0 if push else -10.0
        sine, cosine = math.sin(self.angle), math.cos(self.angle)
        held = (force + 0.05 * self.spin ** 2 * sine) / 1.1
        turn = (9.8 * sine - cosine * held) / (0.5 * (4 / 3 - 0.1 * cosine ** 2 / 1.1))
        self.x += 0.02 * self.speed
        self.speed += 0.02 * (held - 0.05 * turn * cosine / 1.1)
        self.angle += 0.02 * self.spin
        self.spin += 0.02 * turn
        fell = abs(self.angle) > 0.21 or abs(self.x) > 2.4
        if fell:
            self.__init__()
        return -1.0 if fell else 1.0

    def state(self):
        return torch.tensor([self.x, self.speed, self.angle, self.spin])


def play(policy, pole, moves):
    states, pushes, rewards = [], [], []
    for _ in range(moves):
        state = pole.state()
        with torch.no_grad():
            push = torch.distributions.Categorical(logits=policy(state)).sample()
        states.append(state)
        pushes.append(push)
        rewards.append(pole.move(push.item()))
    return torch.stack(states), torch.stack(pushes), rewards


def main():
    torch.manual_seed(47)
    policy = nn.Sequential(nn.Linear(4, 128), nn.Tanh(), nn.Linear(128, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
    pole, watch = Pole(), Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            with watch.planted():
                states, pushes, rewards = play(policy, pole, 64)
            returns, value = [], 0.0
            for reward in reversed(rewards):
                value = reward + 0.98 * value
                returns.insert(0, value)
            returns = torch.tensor(returns)
            chosen = policy(states).log_softmax(1).gather(1, pushes[:, None]).squeeze(1)
            loss = -(chosen * (returns - returns.mean()) / (returns.std() + 1e-6)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}, mean return {returns.mean():.1f}")
    watch.tell()


if __name__ == "__main__":
    main()
