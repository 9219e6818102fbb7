"""Trains a small DQN to dispatch one lift in an eight-floor building."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

FLOORS = 8
ACTIONS = 3                 # down, stay and open, up
STATE = 4 * FLOORS
BUFFER = 6000
BATCH = 64
EPISODE = 100
EPISODES = 56
UPDATE_EVERY = 4
TARGET_EVERY = 200
GAMMA = 0.93


class Building:
    """Passengers arrive at random floors; the reward counts trips less the people who wait."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.floor = 0
        self.waiting = [[] for _ in range(FLOORS)]
        self.riding = []
        self.clock = 0
        return self.observe()

    def observe(self):
        at = [0.0] * FLOORS
        at[self.floor] = 1.0
        calls = [min(len(w), 4) / 4 for w in self.waiting]
        stops = [0.0] * FLOORS
        for goal in self.riding:
            stops[goal] = min(1.0, stops[goal] + 0.25)
        away = [abs(f - self.floor) / FLOORS for f in range(FLOORS)]
        return torch.tensor(at + calls + stops + away)

    def step(self, action):
        delivered = boarded = 0
        if action == 0 and self.floor > 0:
            self.floor -= 1
        elif action == 2 and self.floor < FLOORS - 1:
            self.floor += 1
        elif action == 1:
            delivered = self.riding.count(self.floor)
            self.riding = [g for g in self.riding if g != self.floor]
            room = 6 - len(self.riding)
            boarded = min(room, len(self.waiting[self.floor]))
            self.riding += self.waiting[self.floor][:room]
            self.waiting[self.floor] = self.waiting[self.floor][room:]
        if self.rng.random() < 0.25:
            start = 0 if self.rng.random() < 0.5 else self.rng.randrange(1, FLOORS)
            goal = self.rng.randrange(1, FLOORS) if start == 0 else 0
            if len(self.waiting[start]) < 8:
                self.waiting[start].append(goal)
        people = len(self.riding) + sum(map(len, self.waiting))
        self.clock += 1
        reward = delivered + 0.5 * boarded - 0.02 * people
        return self.observe(), reward, self.clock >= EPISODE, delivered


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(STATE, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU())
        self.value = nn.Linear(96, 1)
        self.advantage = nn.Linear(96, ACTIONS)

    def forward(self, x):
        h = self.body(x)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(-1, keepdim=True)


class ReplayBuffer:
    """A ring in preallocated tensors; row 0 of a sample is the oldest step."""

    def __init__(self, capacity, rng):
        self.capacity = capacity
        self.size = self.next = 0
        self.states = torch.empty(capacity, STATE)
        self.following = torch.empty(capacity, STATE)
        self.actions = torch.empty(capacity, dtype=torch.int64)
        self.rewards = torch.empty(capacity)
        self.done = torch.empty(capacity)
        self.rng = rng

    def __len__(self):
        return self.size

    def push(self, state, action, reward, following, done):
        i = self.next
        self.states[i] = state
        self.actions[i] = action
        self.rewards[i] = reward
        self.following[i] = following
        self.done[i] = float(done)
        self.next = (i + 1) % self.capacity
        self.size = min(self.size + 1, self.capacity)

    def sample(self, count):
        oldest = self.next if self.size == self.capacity else 0
        pick = torch.tensor([(oldest + self.rng.randrange(self.size)) % self.capacity
                             for _ in range(count)])
        return (self.states[pick], self.actions[pick], self.rewards[pick],
                self.following[pick], self.done[pick])


def learn(online, target, optimizer, batch):
    states, actions, rewards, following, done = batch
    q = online(states).gather(1, actions.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best = online(following).argmax(1, keepdim=True)
        future = target(following).gather(1, best).squeeze(1)
        goal = rewards + GAMMA * (1 - done) * future
    loss = F.smooth_l1_loss(q, goal)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(online.parameters(), 5.0)
    optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(5)
    rng = random.Random(17)
    env = Building(rng)
    online, target = QNetwork(), QNetwork()
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.RMSprop(online.parameters(), lr=1e-3)
    buffer = ReplayBuffer(BUFFER, rng)
    total_steps, loss, window = 0, 0.0, []
    for episode in range(EPISODES):
        state, done, served = env.reset(), False, 0
        epsilon = max(0.05, 1.0 - episode / (0.6 * EPISODES))
        while not done:
            if rng.random() < epsilon:
                action = rng.randrange(ACTIONS)
            else:
                with torch.inference_mode():
                    action = int(online(state).argmax())
            following, reward, done, delivered = env.step(action)
            buffer.push(state, action, reward, following, done)
            state = following
            served += delivered
            total_steps += 1
            if len(buffer) >= 500 and total_steps % UPDATE_EVERY == 0:
                loss = learn(online, target, optimizer, buffer.sample(BATCH))
            if total_steps % TARGET_EVERY == 0:
                target.load_state_dict(online.state_dict())
        window.append(served)
        if (episode + 1) % 8 == 0:
            print(f"episode {episode + 1:4d}  served {sum(window[-8:]) / 8:.1f}  loss {loss:.3f}")
    print(f"{total_steps} steps, {sum(window)} passengers served")


if __name__ == "__main__":
    main()
