"""Learns a dispatch policy for a two-car elevator bank with double DQN.

The building is simulated for a vector of environments at once; the learner
samples from a replay memory and the greedy policy is evaluated at the end.
"""
import random
from collections import deque

import torch
from torch import nn
import torch.nn.functional as F

FLOORS = 10
CARS = 2
ACTIONS = 3 ** CARS          # down, hold, up for each car


class Building:
    """A batch of buildings, stepped together."""

    def __init__(self, batch, seed):
        self.batch = batch
        self.g = torch.Generator().manual_seed(seed)
        self.floor = torch.randint(FLOORS, (batch, CARS), generator=self.g)
        self.waiting = torch.zeros(batch, FLOORS)
        self.riding = torch.zeros(batch, CARS, FLOORS)

    def observe(self):
        here = F.one_hot(self.floor, FLOORS).float().flatten(1)
        return torch.cat([here, self.waiting * 0.25, self.riding.flatten(1) * 0.25], dim=1)

    def step(self, action):
        rows = torch.arange(self.batch)
        moves = torch.stack([action // 3, action % 3], dim=1) - 1
        self.floor = (self.floor + moves).clamp(0, FLOORS - 1)
        served = torch.zeros(self.batch)
        for car in range(CARS):
            at = self.floor[:, car]
            stopped = (moves[:, car] == 0).float()
            leaving = self.riding[rows, car, at] * stopped
            self.riding[rows, car, at] -= leaving
            served += leaving
            space = (6 - self.riding[:, car].sum(1)).clamp(min=0)
            entering = torch.minimum(self.waiting[rows, at], space) * stopped
            self.waiting[rows, at] -= entering
            target = torch.randint(FLOORS, (self.batch,), generator=self.g)
            target = torch.where(at != 0, torch.zeros_like(target), target)
            self.riding[rows, car, target] += entering
        arrivals = torch.rand(self.batch, FLOORS, generator=self.g) < 0.02
        arrivals[:, 0] |= torch.rand(self.batch, generator=self.g) < 0.1
        self.waiting = (self.waiting + arrivals.float()).clamp(max=8)
        queue = self.waiting.sum(1) + self.riding.sum((1, 2))
        return self.observe(), served - 0.02 * queue


class QNetwork(nn.Module):
    def __init__(self, inputs, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(),
                                  nn.Linear(hidden, hidden), nn.ReLU())
        self.value = nn.Linear(hidden, 1)
        self.advantage = nn.Linear(hidden, ACTIONS)

    def forward(self, x):
        h = self.body(x)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(1, keepdim=True)


class ReplayMemory:
    def __init__(self, capacity, seed):
        self.items = deque(maxlen=capacity)
        self.rng = random.Random(seed)

    def __len__(self):
        return len(self.items)

    def push(self, state, action, reward, following):
        for s, a, r, f in zip(state.tolist(), action.tolist(), reward.tolist(),
                              following.tolist()):
            self.items.append((s, a, r, f))

    def sample(self, n):
        picked = [self.items[i] for i in self.rng.sample(range(len(self.items)), n)]
        states, actions, rewards, following = zip(*picked)
        return (torch.tensor(states), torch.tensor(actions), torch.tensor(rewards),
                torch.tensor(following))


def learn(online, target, optimizer, memory, batch, gamma):
    state, action, reward, following = memory.sample(batch)
    with torch.no_grad():
        best = online(following).argmax(1, keepdim=True)
        goal = reward + gamma * target(following).gather(1, best).squeeze(1)
    value = online(state).gather(1, action.unsqueeze(1)).squeeze(1)
    loss = F.smooth_l1_loss(value, goal)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(online.parameters(), 10.0)
    optimizer.step()
    return loss.detach()


def follow(target, online, rate):
    with torch.no_grad():
        for t, o in zip(target.parameters(), online.parameters()):
            t.lerp_(o, rate)


def train(steps, envs=16, batch=640, gamma=0.97):
    building = Building(envs, seed=1)
    state = building.observe()
    online, target = QNetwork(state.shape[1]), QNetwork(state.shape[1])
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.RMSprop(online.parameters(), lr=5e-4, alpha=0.95)
    memory = ReplayMemory(capacity=20000, seed=2)
    explore = torch.Generator().manual_seed(3)
    total, updates = torch.zeros(()), 0
    for step in range(steps):
        epsilon = max(0.05, 1.0 - step / (0.6 * steps))
        with torch.no_grad():
            action = online(state).argmax(1)
        chance = torch.rand(envs, generator=explore) < epsilon
        action = torch.where(chance, torch.randint(ACTIONS, (envs,), generator=explore), action)
        following, reward = building.step(action)
        memory.push(state, action, reward, following)
        state = following
        if len(memory) >= 2000:
            total += learn(online, target, optimizer, memory, batch, gamma)
            updates += 1
            follow(target, online, 0.01)
    return online, float(total) / updates, updates


@torch.inference_mode()
def evaluate(policy, steps, envs=64):
    building = Building(envs, seed=77)
    state, total = building.observe(), torch.zeros(envs)
    for _ in range(steps):
        state, reward = building.step(policy(state).argmax(1))
        total += reward
    return float(total.mean()) / steps, float(building.waiting.sum(1).mean())


def main():
    torch.manual_seed(0)
    policy, loss, updates = train(steps=500)
    print(f"updates {updates}  mean loss {loss:.3f}")
    reward, queue = evaluate(policy, steps=100)
    print(f"mean reward {reward:.2f}  waiting at the end {queue:.1f}")


if __name__ == "__main__":
    main()
