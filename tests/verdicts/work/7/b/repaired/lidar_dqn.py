"""Learn to steer a small delivery robot through pillars from its lidar alone.

A batch of simulated robots collects experience; a double DQN is trained from a
replay buffer.
"""
import random
from collections import namedtuple

import numpy as np
import torch
from torch import nn

BEAMS = 360
ACTIONS = np.radians([-25.0, 0.0, 25.0])
ROBOTS = 16
ARENA = 12.0
PILLARS = 14
RADIUS = 0.45
STEP = 0.35
GAMMA = 0.97

Transition = namedtuple("Transition", "scan action reward next_scan done")


class PillarWorld:
    """Many robots in one arena with a wall around it."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.pillars = self.rng.uniform(-ARENA / 2 + 1.5, ARENA / 2 - 1.5, (PILLARS, 2))
        self.angles = np.linspace(-np.pi, np.pi, BEAMS, endpoint=False)
        self.pose = np.zeros((ROBOTS, 3))
        self.reset(np.ones(ROBOTS, dtype=bool))

    def reset(self, which):
        for i in np.flatnonzero(which):
            while True:
                p = self.rng.uniform(-ARENA / 2 + 0.8, ARENA / 2 - 0.8, 2)
                if np.hypot(*(self.pillars - p).T).min() > RADIUS + 0.5:
                    break
            self.pose[i] = (*p, self.rng.uniform(-np.pi, np.pi))

    def scan(self):
        heading = self.pose[:, 2:] + self.angles
        c, s = np.cos(heading), np.sin(heading)
        half = ARENA / 2
        with np.errstate(divide="ignore"):
            wall_x = (np.sign(c) * half - self.pose[:, :1]) / c
            wall_y = (np.sign(s) * half - self.pose[:, 1:2]) / s
        distance = np.minimum(np.where(c == 0, np.inf, wall_x), np.where(s == 0, np.inf, wall_y))
        for p in self.pillars:
            d = p - self.pose[:, :2]
            along = d[:, :1] * c + d[:, 1:] * s
            gap2 = RADIUS**2 - ((d**2).sum(1, keepdims=True) - along**2)
            hit = along - np.sqrt(np.maximum(gap2, 0))
            distance = np.where((gap2 > 0) & (hit > 0), np.minimum(distance, hit), distance)
        return (np.minimum(distance, 6.0) / 6.0).astype(np.float32)

    def step(self, action):
        self.pose[:, 2] += ACTIONS[action]
        self.pose[:, 0] += STEP * np.cos(self.pose[:, 2])
        self.pose[:, 1] += STEP * np.sin(self.pose[:, 2])
        gap = np.hypot(self.pose[:, None, 0] - self.pillars[:, 0],
                       self.pose[:, None, 1] - self.pillars[:, 1]).min(1)
        crashed = (gap < RADIUS + 0.2) | (np.abs(self.pose[:, :2]).max(1) > ARENA / 2 - 0.2)
        straight = np.where(action == 1, 0.1, 0.04)
        reward = np.where(crashed, -1.0, straight).astype(np.float32)
        after = self.scan()
        self.reset(crashed)
        return after, reward, crashed


class ReplayBuffer:
    def __init__(self, capacity, seed):
        self.capacity = capacity
        self.items = []
        self.cursor = 0
        self.rng = random.Random(seed)

    def add(self, transition):
        if len(self.items) < self.capacity:
            self.items.append(transition)
        else:
            self.items[self.cursor] = transition
            self.cursor = (self.cursor + 1) % self.capacity

    def sample(self, size):
        rows = Transition(*zip(*self.rng.sample(self.items, size)))
        return Transition(
            scan=torch.from_numpy(np.stack(rows.scan)),
            action=torch.tensor(rows.action),
            reward=torch.tensor(rows.reward),
            next_scan=torch.from_numpy(np.stack(rows.next_scan)),
            done=torch.tensor(rows.done, dtype=torch.float32),
        )


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 8, 9, stride=4, padding=4, padding_mode="circular"), nn.ReLU(),
            nn.Conv1d(8, 16, 5, stride=3, padding=2), nn.ReLU(), nn.Flatten(),
        )
        self.value = nn.Sequential(nn.Linear(16 * 30, 96), nn.ReLU(), nn.Linear(96, len(ACTIONS)))

    def forward(self, scan):
        return self.value(self.features(scan[:, None]))


def learn(online, target, batch, optimiser):
    q = online(batch.scan).gather(1, batch.action[:, None])[:, 0]
    with torch.no_grad():
        best = online(batch.next_scan).argmax(1, keepdim=True)
        future = target(batch.next_scan).gather(1, best)[:, 0]
        goal = batch.reward + GAMMA * (1 - batch.done) * future
    loss = nn.functional.smooth_l1_loss(q, goal)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()
    return loss.item()


def main():
    torch.manual_seed(3)
    explore = np.random.default_rng(3)
    world, buffer = PillarWorld(3), ReplayBuffer(8000, 3)
    online, target = QNet(), QNet()
    target.load_state_dict(online.state_dict())
    optimiser = torch.optim.Adam(online.parameters(), lr=1e-3)

    scan = world.scan()
    crashes, losses = [], []
    for step in range(200):
        epsilon = max(0.05, 1.0 - step / 100)
        with torch.no_grad():
            action = online(torch.from_numpy(scan)).argmax(1).numpy()
        action = np.where(explore.random(ROBOTS) < epsilon, explore.integers(0, 3, ROBOTS), action)
        after, reward, crashed = world.step(action)
        for i in range(ROBOTS):
            buffer.add(Transition(scan[i], int(action[i]), float(reward[i]), after[i], bool(crashed[i])))
        scan = world.scan()
        crashes.append(crashed.mean())
        if step >= 20:
            losses.append(learn(online, target, buffer.sample(128), optimiser))
        if step % 40 == 0:
            target.load_state_dict(online.state_dict())
    print(f"transitions {len(buffer.items)}, loss {np.mean(losses[-50:]):.4f}")
    print(f"crash rate: first 50 steps {np.mean(crashes[:50]):.4f}, last 50 steps {np.mean(crashes[-50:]):.4f}")


if __name__ == "__main__":
    main()
