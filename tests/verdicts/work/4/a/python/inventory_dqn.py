"""Deep Q-learning of a reorder policy for a warehouse with seasonal demand."""
import math
import random
from collections import deque, namedtuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

HISTORY = 28
LEAD_TIME = 3
CAPACITY = 200
ORDERS = [0, 10, 20, 40, 60, 80]
GAMMA = 0.97

Transition = namedtuple("Transition", "state action reward next_state done")


class Warehouse:
    """Daily demand with weekly and yearly cycles; orders arrive after a delay."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        self.day = int(self.rng.integers(0, 365))
        self.stock = 80
        self.pipeline = deque([0] * LEAD_TIME, maxlen=LEAD_TIME)
        self.demand = deque([20.0] * HISTORY, maxlen=HISTORY)
        self.left = 120
        return self.observe()

    def observe(self):
        week = 2 * math.pi * (self.day % 7) / 7
        year = 2 * math.pi * self.day / 365
        features = [self.stock / CAPACITY, math.sin(week), math.cos(week),
                    math.sin(year), math.cos(year)]
        features += [q / CAPACITY for q in self.pipeline]
        features += [d / 50 for d in self.demand]
        return features

    def step(self, action):
        arrived = self.pipeline[0]
        self.pipeline.append(ORDERS[action])
        self.stock = min(CAPACITY, self.stock + arrived)
        mean = 20 + 8 * math.sin(2 * math.pi * self.day / 365) + (6 if self.day % 7 < 2 else 0)
        demand = int(self.rng.poisson(mean))
        sold = min(self.stock, demand)
        self.stock -= sold
        self.demand.append(float(demand))
        reward = 1.0 * sold - 0.08 * self.stock - 2.0 * (demand - sold)
        reward -= 4.0 if ORDERS[action] else 0.0
        self.day += 1
        self.left -= 1
        return self.observe(), reward / 20, self.left == 0


class ReplayMemory:
    def __init__(self, capacity, seed):
        self.items = deque(maxlen=capacity)
        self.rng = random.Random(seed)

    def push(self, *fields):
        self.items.append(Transition(*fields))

    def sample(self, n):
        batch = Transition(*zip(*self.rng.sample(self.items, n)))
        return (torch.tensor(batch.state), torch.tensor(batch.action),
                torch.tensor(batch.reward, dtype=torch.float32),
                torch.tensor(batch.next_state),
                torch.tensor(batch.done, dtype=torch.float32))

    def __len__(self):
        return len(self.items)


class QNetwork(nn.Module):
    def __init__(self, inputs, actions, width=96):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(),
                                  nn.Linear(width, width), nn.ReLU())
        self.value = nn.Linear(width, 1)
        self.advantage = nn.Linear(width, actions)

    def forward(self, x):
        h = self.body(x)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(1, keepdim=True)


class Agent:
    def __init__(self, inputs):
        self.online = QNetwork(inputs, len(ORDERS))
        self.target = QNetwork(inputs, len(ORDERS))
        self.target.load_state_dict(self.online.state_dict())
        self.opt = torch.optim.RMSprop(self.online.parameters(), lr=5e-4)
        self.rng = random.Random(3)

    @torch.no_grad()
    def act(self, state, epsilon):
        if self.rng.random() < epsilon:
            return self.rng.randrange(len(ORDERS))
        return int(self.online(torch.tensor([state])).argmax(1))

    def learn(self, batch):
        state, action, reward, next_state, done = batch
        with torch.no_grad():
            best = self.online(next_state).argmax(1, keepdim=True)
            future = self.target(next_state).gather(1, best).squeeze(1)
            goal = reward + GAMMA * (1 - done) * future
        q = self.online(state).gather(1, action.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(q, goal)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def sync(self):
        self.target.load_state_dict(self.online.state_dict())


def main():
    torch.manual_seed(0)
    env = Warehouse(1)
    state = env.reset()
    agent = Agent(len(state))
    memory = ReplayMemory(20000, 2)
    steps, batch_size = 1400, 256
    total = 0.0
    losses = deque(maxlen=200)
    for step in range(steps):
        epsilon = max(0.05, 1 - step / 700)
        action = agent.act(state, epsilon)
        next_state, reward, done = env.step(action)
        memory.push(state, action, reward, next_state, done)
        state = env.reset() if done else next_state
        total += reward
        if len(memory) >= batch_size:
            losses.append(agent.learn(memory.sample(batch_size)))
        if step % 200 == 0:
            agent.sync()
        if (step + 1) % 700 == 0:
            print(f"step {step + 1}: mean reward {total / 700:.2f}, "
                  f"loss {sum(losses) / len(losses):.2f}")
            total = 0.0


if __name__ == "__main__":
    main()
