"""Double DQN with prioritised replay for the dispatch of one lift in a building."""
import bisect
import itertools
import random

import numpy as np
import torch
from torch import nn

FLOORS = 8
STEPS = 1700
CAPACITY = 30000
WARMUP = 300
BATCH = 32
GAMMA = 0.97
SEED = 3


class LiftEnv:
    """Passengers wait on floors; actions are down, stay and up. Serving a floor pays."""

    actions = 3

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.reset()

    def reset(self):
        self.at = 0
        self.waiting = [0] * FLOORS
        self.tick = 0
        return self.observe()

    def observe(self):
        place = [0.0] * FLOORS
        place[self.at] = 1.0
        return np.array(place + [min(w, 5) / 5 for w in self.waiting], dtype=np.float32)

    def step(self, action):
        self.at = min(FLOORS - 1, max(0, self.at + action - 1))
        served = self.waiting[self.at]
        self.waiting[self.at] = 0
        busy = 0.5 if (self.tick // 60) % 2 == 0 else 0.25
        if self.rng.random() < busy:
            floor = 0 if self.rng.random() < 0.5 else self.rng.randrange(1, FLOORS)
            self.waiting[floor] += 1
        self.tick += 1
        reward = served - 0.05 * sum(self.waiting)
        return self.observe(), reward, self.tick % 240 == 0


class PrioritizedReplay:
    def __init__(self, capacity, alpha=0.6, seed=0):
        self.capacity = capacity
        self.alpha = alpha
        self.rng = random.Random(seed)
        self.items = []
        self.priority = []
        self.cursor = 0
        self.top = 1.0

    def __len__(self):
        return len(self.items)

    def add(self, item):
        if len(self.items) < self.capacity:
            self.items.append(item)
            self.priority.append(self.top)
        else:
            self.items[self.cursor] = item
            self.priority[self.cursor] = self.top
        self.cursor = (self.cursor + 1) % self.capacity

    def sample(self, count, beta):
        weights = [p**self.alpha for p in self.priority]
        cumulative = list(itertools.accumulate(weights))
        total = cumulative[-1]
        picks = [bisect.bisect(cumulative, self.rng.random() * total) for _ in range(count)]
        picks = [min(i, len(self.items) - 1) for i in picks]
        chance = np.array([weights[i] / total for i in picks])
        scale = (len(self.items) * chance) ** -beta
        return picks, [self.items[i] for i in picks], (scale / scale.max()).astype(np.float32)

    def update(self, picks, errors):
        for i, e in zip(picks, errors):
            self.priority[i] = float(e) + 1e-3
            self.top = max(self.top, self.priority[i])


def q_network():
    return nn.Sequential(nn.Linear(2 * FLOORS, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, LiftEnv.actions))


def collate(items):
    state, action, reward, after, done = zip(*items)
    return (
        torch.from_numpy(np.stack(state)),
        torch.tensor(action),
        torch.tensor(reward, dtype=torch.float32),
        torch.from_numpy(np.stack(after)),
        torch.tensor(done, dtype=torch.float32),
    )


def learn(online, target, optimizer, replay, beta):
    picks, items, weights = replay.sample(BATCH, beta)
    state, action, reward, after, done = collate(items)
    with torch.no_grad():
        best = online(after).argmax(1, keepdim=True)
        goal = reward + GAMMA * (1 - done) * target(after).gather(1, best).squeeze(1)
    value = online(state).gather(1, action.unsqueeze(1)).squeeze(1)
    error = goal - value
    loss = (torch.from_numpy(weights) * nn.functional.smooth_l1_loss(value, goal, reduction="none")).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    replay.update(picks, error.detach().abs().tolist())


@torch.no_grad()
def act(network, state):
    return int(network(torch.from_numpy(state).unsqueeze(0)).argmax())


def evaluate(network, seed, ticks=720):
    env = LiftEnv(seed)
    state, total = env.reset(), 0.0
    for _ in range(ticks):
        state, reward, _ = env.step(act(network, state))
        total += reward
    return total / ticks


def main():
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    online, target = q_network(), q_network()
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
    replay = PrioritizedReplay(CAPACITY, seed=SEED)
    env = LiftEnv(SEED)
    state = env.reset()
    for _ in range(CAPACITY - 2000):  # past trips of the existing controller
        action = rng.randrange(LiftEnv.actions)
        after, reward, done = env.step(action)
        replay.add((state, action, reward, after, done))
        state = env.reset() if done else after
    for step in range(STEPS):
        explore = max(0.05, 1.0 - step / 1500)
        action = rng.randrange(LiftEnv.actions) if rng.random() < explore else act(online, state)
        after, reward, done = env.step(action)
        replay.add((state, action, reward, after, done))
        state = env.reset() if done else after
        if step >= WARMUP:
            learn(online, target, optimizer, replay, beta=0.4 + 0.6 * step / STEPS)
        if step % 200 == 0:
            target.load_state_dict(online.state_dict())
    print(f"steps {STEPS} replay {len(replay)} reward per tick {evaluate(online, SEED + 1):.3f} "
          f"untrained {evaluate(q_network(), SEED + 1):.3f}")


if __name__ == "__main__":
    main()
