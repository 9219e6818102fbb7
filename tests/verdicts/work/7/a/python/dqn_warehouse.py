"""Deep Q-learning for a picking robot: the robot has to fetch the ordered item in a
small warehouse with moving obstacles and bring it to the packing desk."""
import random
from collections import deque
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SIZE = 12
PLANES = 4  # robot, shelf walls, moving carts, current goal
MOVES = [(0, 1), (0, -1), (1, 0), (-1, 0)]


class Warehouse:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.walls = np.zeros((SIZE, SIZE), dtype=np.float32)
        for row in range(2, SIZE - 2, 3):
            self.walls[row, 1 : SIZE // 2 - 1] = 1
            self.walls[row, SIZE // 2 + 1 : SIZE - 1] = 1
        self.free = [(int(r), int(c)) for r, c in np.argwhere(self.walls == 0)]
        self.reset()

    def reset(self):
        self.robot, self.item, *self.carts = self.rng.sample(self.free, 5)
        self.desk = (0, 0)
        self.carrying = False
        self.time = 0
        return self.observe()

    def observe(self):
        obs = np.zeros((PLANES, SIZE, SIZE), dtype=np.float32)
        obs[0][self.robot] = 1
        obs[1] = self.walls
        for cart in self.carts:
            obs[2][cart] = 1
        obs[3][self.desk if self.carrying else self.item] = 1
        return obs.tolist()

    def shifted(self, cell, move):
        r, c = cell[0] + move[0], cell[1] + move[1]
        inside = 0 <= r < SIZE and 0 <= c < SIZE and not self.walls[r, c]
        return (r, c) if inside else cell

    def step(self, action):
        self.time += 1
        reward = -0.02
        goal = self.desk if self.carrying else self.item
        before = abs(self.robot[0] - goal[0]) + abs(self.robot[1] - goal[1])
        self.robot = self.shifted(self.robot, MOVES[action])
        after = abs(self.robot[0] - goal[0]) + abs(self.robot[1] - goal[1])
        reward += 0.05 * (before - after)
        self.carts = [self.shifted(c, self.rng.choice(MOVES)) for c in self.carts]
        done = self.time >= 80
        if self.robot in self.carts:
            reward -= 0.3
        if self.robot == goal:
            reward += 1
            done = done or self.carrying
            self.carrying = True
        return self.observe(), reward, done


@dataclass(slots=True)
class Transition:
    state: list
    action: int
    reward: float
    next_state: list
    done: bool


class ReplayBuffer:
    def __init__(self, capacity, seed):
        self.items = deque(maxlen=capacity)
        self.rng = random.Random(seed)

    def __len__(self):
        return len(self.items)

    def add(self, transition):
        self.items.append(transition)

    def sample(self, n):
        batch = self.rng.sample(self.items, n)
        states = torch.tensor([t.state for t in batch])
        next_states = torch.tensor([t.next_state for t in batch])
        actions = torch.tensor([t.action for t in batch])
        rewards = torch.tensor([t.reward for t in batch])
        live = torch.tensor([0.0 if t.done else 1.0 for t in batch])
        return states, actions, rewards, next_states, live


class QNet(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(PLANES * SIZE * SIZE, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.value = nn.Linear(hidden, 1)
        self.advantage = nn.Linear(hidden, len(MOVES))

    def forward(self, x):
        h = self.body(x)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(1, keepdim=True)


class Agent:
    def __init__(self, gamma=0.95, lr=5e-4, seed=0):
        self.online, self.target = QNet(), QNet()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=lr)
        self.gamma = gamma
        self.rng = random.Random(seed)

    @torch.inference_mode()
    def act(self, state, epsilon):
        if self.rng.random() < epsilon:
            return self.rng.randrange(len(MOVES))
        return int(self.online(torch.tensor([state])).argmax())

    def learn(self, states, actions, rewards, next_states, live):
        with torch.no_grad():
            best = self.online(next_states).argmax(1, keepdim=True)
            target = rewards + self.gamma * live * self.target(next_states).gather(1, best).squeeze(1)
        q = self.online(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(q, target)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()

    def sync(self):
        self.target.load_state_dict(self.online.state_dict())


def main():
    torch.manual_seed(1)
    env, agent, replay = Warehouse(seed=2), Agent(seed=3), ReplayBuffer(5_000, seed=4)
    total_steps, warmup, batch_size = 600, 100, 64
    state, episode, returns = env.reset(), 0.0, []
    for step in range(total_steps):
        epsilon = max(0.1, 1 - step / (0.7 * total_steps))
        action = agent.act(state, epsilon)
        next_state, reward, done = env.step(action)
        replay.add(Transition(state, action, reward, next_state, done))
        episode += reward
        state = next_state
        if done:
            returns.append(episode)
            state, episode = env.reset(), 0.0
        if step >= warmup:
            agent.learn(*replay.sample(batch_size))
            if step % 200 == 0:
                agent.sync()
    print(f"steps {total_steps}  episodes {len(returns)}  first returns {np.mean(returns[:10]):.3f}  last {np.mean(returns[-10:]):.3f}")


if __name__ == "__main__":
    main()
