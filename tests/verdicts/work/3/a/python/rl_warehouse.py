"""Deep Q-learning for a picker robot on a warehouse floor with moving carts."""
import random

import torch
from torch import nn

SIDE = 9
MOVES = [(0, 1), (0, -1), (1, 0), (-1, 0)]
OBS = SIDE * SIDE * 2


class Floor:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.reset()

    def reset(self):
        cells = self.rng.sample(range(SIDE * SIDE), 6)
        spots = [(c // SIDE, c % SIDE) for c in cells]
        self.robot, self.goal, self.carts = spots[0], spots[1], spots[2:]
        self.left = 40
        return self.observe()

    def observe(self):
        view = torch.zeros(2, SIDE, SIDE)
        view[0][self.robot] = 1.0
        view[0][self.goal] = 0.5
        for cart in self.carts:
            view[1][cart] = 1.0
        return view.flatten()

    def _shift(self, spot, move):
        return (min(max(spot[0] + move[0], 0), SIDE - 1), min(max(spot[1] + move[1], 0), SIDE - 1))

    def step(self, action):
        before = abs(self.robot[0] - self.goal[0]) + abs(self.robot[1] - self.goal[1])
        self.robot = self._shift(self.robot, MOVES[action])
        self.carts = [self._shift(c, self.rng.choice(MOVES)) for c in self.carts]
        self.left -= 1
        after = abs(self.robot[0] - self.goal[0]) + abs(self.robot[1] - self.goal[1])
        reward, done = 0.1 * (before - after) - 0.02, self.left == 0
        if self.robot in self.carts:
            reward, done = -1.0, True
        elif self.robot == self.goal:
            reward, done = 1.0, True
        return self.observe(), reward, done


class Memory:
    """Everything seen so far, stored column by column for easy sampling."""

    def __init__(self, seed):
        self.state = torch.empty(0, OBS)
        self.after = torch.empty(0, OBS)
        self.action = torch.empty(0, dtype=torch.long)
        self.reward = torch.empty(0)
        self.done = torch.empty(0)
        self.generator = torch.Generator().manual_seed(seed)

    def __len__(self):
        return len(self.action)

    def push(self, state, action, reward, after, done):
        self.state = torch.cat([self.state, state.unsqueeze(0)])
        self.after = torch.cat([self.after, after.unsqueeze(0)])
        self.action = torch.cat([self.action, torch.tensor([action])])
        self.reward = torch.cat([self.reward, torch.tensor([reward])])
        self.done = torch.cat([self.done, torch.tensor([float(done)])])

    def sample(self, size):
        pick = torch.randint(0, len(self), (size,), generator=self.generator)
        return self.state[pick], self.action[pick], self.reward[pick], self.after[pick], self.done[pick]


def network():
    return nn.Sequential(nn.Linear(OBS, 96), nn.ReLU(), nn.Linear(96, 64), nn.ReLU(), nn.Linear(64, len(MOVES)))


def choose(policy, state, epsilon, rng):
    if rng.random() < epsilon:
        return rng.randrange(len(MOVES))
    with torch.no_grad():
        return int(policy(state).argmax())


def learn(policy, target, optimizer, memory, gamma=0.95):
    state, action, reward, after, done = memory.sample(64)
    value = policy(state).gather(1, action.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        goal = reward + gamma * (1 - done) * target(after).max(1).values
    loss = nn.functional.smooth_l1_loss(value, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def run(steps):
    torch.manual_seed(3)
    rng = random.Random(5)
    floor, memory = Floor(seed=6), Memory(seed=7)
    policy, target = network(), network()
    target.load_state_dict(policy.state_dict())
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    state, score, losses = floor.reset(), 0.0, 0.0
    for step in range(steps):
        epsilon = max(0.1, 1.0 - step / (0.6 * steps))
        action = choose(policy, state, epsilon, rng)
        after, reward, done = floor.step(action)
        memory.push(state, action, reward, after, done)
        score += reward
        state = floor.reset() if done else after
        if len(memory) >= 500 and step % 4 == 0:
            losses += learn(policy, target, optimizer, memory)
        if step % 500 == 0:
            target.load_state_dict(policy.state_dict())
        if step % 2000 == 1999:
            print(f"step {step + 1} score {score:.2f} loss {losses:.4f}")
            score = losses = 0.0


if __name__ == "__main__":
    run(4000)
