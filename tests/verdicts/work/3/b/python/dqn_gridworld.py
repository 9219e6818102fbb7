"""Deep Q-learning on a small grid world with image-like observations."""
import random
import warnings
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

warnings.filterwarnings("ignore", category=UserWarning)

SIZE = 8
ACTIONS = 4
Transition = namedtuple("Transition", "obs action reward next_obs done")


class GridWorld:
    """Reach the goal, avoid the pits. Observation: three stacked planes."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.pits = {(2, 3), (5, 1), (4, 6), (6, 4)}
        self.goal = (7, 7)
        self.reset()

    def reset(self):
        self.pos = (self.rng.randrange(3), self.rng.randrange(3))
        self.t = 0
        return self.observe()

    def observe(self):
        obs = np.zeros((3, SIZE, SIZE), dtype=np.float32)
        obs[0][self.pos] = 1
        obs[1][self.goal] = 1
        for p in self.pits:
            obs[2][p] = 1
        return obs.reshape(-1)

    def step(self, action):
        dy, dx = ((0, 1), (0, -1), (1, 0), (-1, 0))[action]
        y = min(SIZE - 1, max(0, self.pos[0] + dy))
        x = min(SIZE - 1, max(0, self.pos[1] + dx))
        self.pos = (y, x)
        self.t += 1
        if self.pos == self.goal:
            return self.observe(), 1.0, True
        if self.pos in self.pits:
            return self.observe(), -1.0, True
        return self.observe(), -0.01, self.t >= 60


class ReplayBuffer:
    def __init__(self, capacity, seed):
        self.items = deque(maxlen=capacity)
        self.rng = random.Random(seed)

    def __len__(self):
        return len(self.items)

    def add(self, *fields):
        self.items.append(Transition(*fields))

    def sample(self, n):
        batch = Transition(*zip(*self.rng.sample(self.items, n)))
        obs = torch.tensor(batch.obs)
        next_obs = torch.tensor(batch.next_obs)
        action = torch.tensor(batch.action)
        reward = torch.tensor(batch.reward, dtype=torch.float32)
        done = torch.tensor(batch.done, dtype=torch.float32)
        return obs, action, reward, next_obs, done


def make_net():
    return nn.Sequential(nn.Linear(3 * SIZE * SIZE, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(),
                         nn.Linear(128, ACTIONS))


def choose(net, obs, epsilon, rng):
    if rng.random() < epsilon:
        return rng.randrange(ACTIONS)
    with torch.no_grad():
        return int(net(torch.from_numpy(obs)).argmax())


def learn(net, target, buffer, optimizer, batch=96, gamma=0.97):
    obs, action, reward, next_obs, done = buffer.sample(batch)
    with torch.no_grad():
        goal = reward + gamma * (1 - done) * target(next_obs).max(dim=1).values
    value = net(obs).gather(1, action.unsqueeze(1)).squeeze(1)
    loss = F.smooth_l1_loss(value, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main(steps=1000):
    torch.manual_seed(0)
    rng = random.Random(3)
    env, buffer = GridWorld(1), ReplayBuffer(5000, seed=2)
    net, target = make_net(), make_net()
    target.load_state_dict(net.state_dict())
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    obs, score, losses = env.reset(), 0.0, []
    for t in range(steps):
        action = choose(net, obs, max(0.05, 1 - t / 900), rng)
        next_obs, reward, done = env.step(action)
        buffer.add(obs, action, reward, next_obs, done)
        score += reward
        obs = env.reset() if done else next_obs
        if len(buffer) >= 200:
            losses.append(learn(net, target, buffer, optimizer))
        if t % 100 == 0:
            target.load_state_dict(net.state_dict())
    print(f"steps {t + 1} score {score:.2f} loss {torch.stack(losses[-50:]).mean():.5f}")


if __name__ == "__main__":
    main()
