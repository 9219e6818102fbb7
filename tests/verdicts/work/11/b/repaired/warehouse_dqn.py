"""Double Q-learning with prioritised replay for a picking robot in a small warehouse: it carries
goods from the shelf to the dock round obstacles that differ per episode."""
import random

import numpy as np
import torch
from torch import nn

SIZE = 12
FEATURES = 12
ACTIONS = ((0, 1), (0, -1), (1, 0), (-1, 0))
MEMORY = 100_000
WARMUP = 96_000
STEPS = 1350
BATCH = 32
SYNC = 200
GAMMA = 0.97
ALPHA = 0.6


class Warehouse:
    def __init__(self, rng):
        self.rng = rng
        self.reset()

    def reset(self):
        cells = [(x, y) for x in range(SIZE) for y in range(SIZE)]
        picked = self.rng.sample(cells, 3)
        self.robot, self.shelf, self.dock = picked
        self.blocked = set(self.rng.choices(cells, k=10)) - set(picked)
        self.carrying = False
        self.left = 60
        return self.observe()

    def observe(self):
        x, y = self.robot
        tx, ty = self.dock if self.carrying else self.shelf
        around = [
            float(not (0 <= x + dx < SIZE and 0 <= y + dy < SIZE) or (x + dx, y + dy) in self.blocked)
            for dx, dy in ACTIONS
        ]
        near = [float(tx > x), float(tx < x), float(ty > y), float(ty < y)]
        return (x / SIZE, y / SIZE, (tx - x) / SIZE, (ty - y) / SIZE, *around, *near)

    def step(self, action):
        dx, dy = ACTIONS[action]
        at = (self.robot[0] + dx, self.robot[1] + dy)
        reward = -0.02
        if 0 <= at[0] < SIZE and 0 <= at[1] < SIZE and at not in self.blocked:
            self.robot = at
        else:
            reward = -0.1
        done = False
        if not self.carrying and self.robot == self.shelf:
            self.carrying, reward = True, 0.5
        elif self.carrying and self.robot == self.dock:
            done, reward = True, 1.0
        self.left -= 1
        return self.observe(), reward, done or self.left == 0


class ReplayMemory:
    """Transitions in arrays; those that surprised most come back most often."""

    def __init__(self, capacity, rng):
        self.state = np.zeros((capacity, FEATURES), np.float32)
        self.following = np.zeros((capacity, FEATURES), np.float32)
        self.action = np.zeros(capacity, np.int64)
        self.reward = np.zeros(capacity, np.float32)
        self.done = np.zeros(capacity, np.float32)
        self.capacity = capacity
        self.leaves = 1 << (capacity - 1).bit_length()
        self.tree = np.zeros(2 * self.leaves)
        self.size = self.next = 0
        self.rng = rng

    def add(self, state, action, reward, following, done):
        at = self.next
        self.state[at], self.following[at] = state, following
        self.action[at], self.reward[at], self.done[at] = action, reward, done
        self.store(at, 1.0)
        self.next = (at + 1) % self.capacity
        self.size = min(self.size + 1, self.capacity)

    def store(self, at, weight):
        node = at + self.leaves
        change = weight - self.tree[node]
        while node:
            self.tree[node] += change
            node //= 2

    def sample(self, count):
        left = self.rng.random(count) * self.tree[1]
        node = np.ones(count, np.int64)
        while node[0] < self.leaves:
            node *= 2
            right = left >= self.tree[node]
            left -= right * self.tree[node]
            node += right
        rows = np.minimum(node - self.leaves, self.size - 1)
        columns = (self.state, self.action, self.reward, self.following, self.done)
        return rows, [torch.from_numpy(c[rows]) for c in columns]

    def surprise(self, rows, errors):
        node = rows + self.leaves
        self.tree[node] = (np.abs(errors) + 0.01).astype(np.float64) ** ALPHA
        while node[0] > 1:
            node = node // 2
            self.tree[node] = self.tree[2 * node] + self.tree[2 * node + 1]

    def __len__(self):
        return self.size


def make_net():
    return nn.Sequential(
        nn.Linear(FEATURES, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, len(ACTIONS))
    )


class Agent:
    def __init__(self, rng):
        self.rng = rng
        self.online = make_net()
        self.target = make_net()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)

    def act(self, state, explore):
        if self.rng.random() < explore:
            return self.rng.randrange(len(ACTIONS))
        with torch.no_grad():
            return int(self.online(torch.tensor(state)).argmax())

    def learn(self, batch):
        state, action, reward, following, done = batch
        with torch.no_grad():
            best = self.online(following).argmax(dim=1, keepdim=True)
            value = self.target(following).gather(1, best).squeeze(1)
            wanted = reward + GAMMA * (1 - done) * value
        guess = self.online(state).gather(1, action.unsqueeze(1)).squeeze(1)
        loss = nn.functional.smooth_l1_loss(guess, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), (guess - wanted).detach().numpy()


def explore(env, memory, rng, steps):
    """Fills the memory with a policy that mostly walks towards the target."""
    state = env.reset()
    for _ in range(steps):
        toward = [a for a in range(len(ACTIONS)) if state[8 + (2, 3, 0, 1)[a]] and not state[4 + a]]
        action = rng.choice(toward) if toward and rng.random() < 0.4 else rng.randrange(len(ACTIONS))
        following, reward, done = env.step(action)
        memory.add(state, action, reward, following, done)
        state = env.reset() if done else following


def main():
    torch.manual_seed(4)
    torch.set_num_threads(1)
    rng = random.Random(11)
    env = Warehouse(rng)
    memory = ReplayMemory(MEMORY, np.random.default_rng(5))
    explore(env, memory, rng, WARMUP)
    agent = Agent(rng)
    state, gained, losses, finished = env.reset(), 0.0, 0.0, 0
    for step in range(STEPS):
        action = agent.act(state, explore=max(0.05, 0.5 - step / STEPS))
        following, reward, done = env.step(action)
        memory.add(state, action, reward, following, done)
        gained += reward
        finished += done
        state = env.reset() if done else following
        rows, batch = memory.sample(BATCH)
        loss, errors = agent.learn(batch)
        memory.surprise(rows, errors)
        losses += loss
        if step % SYNC == 0:
            agent.target.load_state_dict(agent.online.state_dict())
    print(f"memory {len(memory)}, episodes {finished}")
    print(f"mean loss {losses / STEPS:.5f}, reward per step {gained / STEPS:.4f}")


if __name__ == "__main__":
    main()
