"""Learns with a double DQN which of several elevators should answer a call.

The building is a small vectorless simulator; the agent is trained from a
replay buffer and evaluated against the nearest-car rule.
"""
import random

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

CARS = 6
FLOORS = 24
OBS = CARS * 4 + 4
STEPS = 800
EXPLORE = 6000
BATCH = 64
CAPACITY = 100000


class Building:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        self.position = self.rng.integers(0, FLOORS, CARS).astype(np.float32)
        self.target = self.position.copy()
        self.load = np.zeros(CARS, np.float32)
        self.clock = 0
        self._next_call()
        return self.observe()

    def _next_call(self):
        up_peak = self.clock % 200 < 100
        self.call = 0 if up_peak and self.rng.random() < 0.7 else int(self.rng.integers(1, FLOORS))
        self.goal = int(self.rng.integers(0, FLOORS))

    def observe(self):
        obs = np.empty(OBS, np.float32)
        obs[0:CARS] = self.position / FLOORS
        obs[CARS : 2 * CARS] = self.target / FLOORS
        obs[2 * CARS : 3 * CARS] = self.load / 8
        obs[3 * CARS : 4 * CARS] = np.abs(self.position - self.call) / FLOORS
        obs[-4:] = self.call / FLOORS, self.goal / FLOORS, (self.clock % 200) / 200, self.load.mean() / 8
        return obs

    def wait_of(self, car):
        busy = abs(self.target[car] - self.position[car])
        return busy + abs(self.target[car] - self.call) + 2.0 * self.load[car]

    def step(self, car):
        reward = -float(self.wait_of(car)) / FLOORS
        self.target[car] = self.goal
        self.load[car] = min(self.load[car] + 1, 8)
        move = np.clip(self.target - self.position, -3, 3)
        self.position += move
        arrived = self.position == self.target
        self.load[arrived] = np.maximum(self.load[arrived] - 1, 0)
        self.clock += 1
        self._next_call()
        return self.observe(), reward, self.clock % 200 == 0


class QNetwork(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.value = nn.Linear(width, 1)
        self.advantage = nn.Linear(width, CARS)

    def forward(self, obs):
        x = self.body(obs)
        adv = self.advantage(x)
        return self.value(x) + adv - adv.mean(1, keepdim=True)


class ReplayBuffer:
    """Ring of transitions, drawn by the root of their last temporal-difference error."""

    def __init__(self, capacity, seed):
        self.obs = np.zeros((capacity, OBS), np.float32)
        self.following = np.zeros((capacity, OBS), np.float32)
        self.action = np.zeros(capacity, np.int64)
        self.reward = np.zeros(capacity, np.float32)
        self.done = np.zeros(capacity, np.float32)
        self.priority = np.zeros(capacity)
        self.capacity = capacity
        self.position = 0
        self.rng = np.random.default_rng(seed)

    def push(self, obs, action, reward, following, done, priority=None):
        k = self.position % self.capacity
        self.obs[k], self.following[k] = obs, following
        self.action[k], self.reward[k], self.done[k] = action, reward, done
        self.priority[k] = self.priority.max() if priority is None else priority
        self.position += 1

    def sample(self, n):
        weight = np.sqrt(self.priority)
        index = self.rng.choice(self.capacity, n, p=weight / weight.sum())
        batch = (self.obs, self.action, self.reward, self.following, self.done)
        return index, tuple(torch.from_numpy(column[index]) for column in batch)

    def update(self, index, errors):
        self.priority[index] = errors.astype(np.float64) + 0.01


class Agent:
    def __init__(self, seed):
        torch.manual_seed(seed)
        self.online = QNetwork()
        self.target = QNetwork()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=5e-4)
        self.rng = random.Random(seed)

    @torch.no_grad()
    def act(self, obs, epsilon):
        if self.rng.random() < epsilon:
            return self.rng.randrange(CARS)
        return int(self.online(torch.from_numpy(obs).unsqueeze(0)).argmax())

    def learn(self, batch, gamma=0.9):
        obs, action, reward, following, done = batch
        with torch.no_grad():
            best = self.online(following).argmax(1, keepdim=True)
            future = self.target(following).gather(1, best).squeeze(1)
            goal = reward + gamma * (1 - done) * future
        chosen = self.online(obs).gather(1, action.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(chosen, goal)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.online.parameters(), 5.0)
        self.optimizer.step()
        return loss.detach(), (chosen - goal).detach().abs().numpy()


def evaluate(policy, episodes=3):
    total = 0.0
    for k in range(episodes):
        env = Building(9000 + k)
        obs, done = env.reset(), False
        while not done:
            obs, reward, done = env.step(policy(env, obs))
            total += reward
    return total / episodes


def main():
    env = Building(1)
    agent = Agent(2)
    buffer = ReplayBuffer(CAPACITY, 3)
    obs = env.reset()
    for _ in range(EXPLORE):
        action = agent.act(obs, 1.0)
        following, reward, done = env.step(action)
        buffer.push(obs, action, reward, following, done, priority=1.0)
        obs = env.reset() if done else following

    losses = []
    for step in range(STEPS):
        action = agent.act(obs, max(0.05, 1.0 - step / (STEPS * 0.5)))
        following, reward, done = env.step(action)
        buffer.push(obs, action, reward, following, done)
        obs = env.reset() if done else following
        index, batch = buffer.sample(BATCH)
        loss, errors = agent.learn(batch)
        buffer.update(index, errors)
        losses.append(loss)
        if step % 200 == 0:
            agent.target.load_state_dict(agent.online.state_dict())

    nearest = evaluate(lambda e, o: int(np.abs(e.position - e.call).argmin()))
    learned = evaluate(lambda e, o: agent.act(o, 0.0))
    losses = torch.stack(losses)
    print(f"updates {len(losses)} first loss {losses[:100].mean():.2f} last loss {losses[-500:].mean():.2f}")
    print(f"nearest car {nearest:.1f} learned {learned:.1f}")


if __name__ == "__main__":
    main()
