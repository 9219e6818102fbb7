"""DQN agent that delivers parcels on a small torus city."""
import random

import torch
from torch import nn

CITY = 9
ACTIONS = 4


class CourierCity:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.reset()

    def reset(self):
        r = self.rng
        self.x, self.y = r.randrange(CITY), r.randrange(CITY)
        self.tx, self.ty = r.randrange(CITY), r.randrange(CITY)
        self.left = 40
        return self.observe()

    def observe(self):
        dx, dy = (self.tx - self.x) % CITY, (self.ty - self.y) % CITY
        return (self.x / CITY, self.y / CITY, dx / CITY, dy / CITY, float(dx == 0), float(dy == 0), self.left / 40)

    def step(self, action):
        mx, my = ((1, 0), (-1, 0), (0, 1), (0, -1))[action]
        self.x, self.y = (self.x + mx) % CITY, (self.y + my) % CITY
        self.left -= 1
        arrived = self.x == self.tx and self.y == self.ty
        return self.observe(), (1.0 if arrived else -0.02), arrived or self.left == 0


class Memory:
    def __init__(self, capacity, seed):
        self.capacity, self.oldest = capacity, 0
        self.items, self.priority = [], []
        self.rng = random.Random(seed)

    def add(self, item, priority=120):
        if len(self.items) < self.capacity:
            self.items.append(item)
            self.priority.append(priority)
            return
        self.items[self.oldest] = item
        self.priority[self.oldest] = priority
        self.oldest = (self.oldest + 1) % self.capacity

    def revise(self, rows, errors):
        for row, error in zip(rows, errors):
            self.priority[row] = 5 + min(200, int(200 * error))

    def batch(self, size):
        rows = self.rng.choices(range(len(self.items)), weights=self.priority, k=size)
        picked = [self.items[i] for i in rows]
        state, action, reward, after, done = zip(*picked)
        return rows, (torch.tensor(state), torch.tensor(action)[:, None], torch.tensor(reward),
                      torch.tensor(after), torch.tensor(done))


def make_net():
    return nn.Sequential(nn.Linear(7, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, ACTIONS))


class Agent:
    def __init__(self):
        self.net, self.target = make_net(), make_net()
        self.target.load_state_dict(self.net.state_dict())
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.rng = random.Random(8)

    def act(self, state, explore):
        if self.rng.random() < explore:
            return self.rng.randrange(ACTIONS)
        with torch.no_grad():
            return int(self.net(torch.tensor(state)).argmax())

    def learn(self, batch):
        state, action, reward, after, done = batch
        with torch.no_grad():
            best = self.target(after).max(1).values
            goal = reward + 0.97 * best * (~done).float()
        value = self.net(state).gather(1, action).squeeze(1)
        loss = nn.functional.smooth_l1_loss(value, goal)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return (value.detach() - goal).abs().tolist()


def warm_up(city, memory, count):
    rng = random.Random(3)
    state = city.reset()
    for _ in range(count):
        action = rng.randrange(ACTIONS)
        after, reward, done = city.step(action)
        memory.add((state, action, reward, after, done))
        state = city.reset() if done else after


def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    city, memory, agent = CourierCity(1), Memory(200_000, 4), Agent()
    warm_up(city, memory, 200_000)
    state, delivered = city.reset(), 0
    for step in range(700):
        action = agent.act(state, explore=max(0.05, 1 - step / 500))
        after, reward, done = city.step(action)
        memory.add((state, action, reward, after, done))
        delivered += reward > 0
        state = city.reset() if done else after
        rows, batch = memory.batch(128)
        memory.revise(rows, agent.learn(batch))
        if step % 100 == 0:
            agent.target.load_state_dict(agent.net.state_dict())
    print("delivered", delivered)


if __name__ == "__main__":
    main()
