"""Train a double DQN to collect coins while avoiding a guard, on a batch of
parallel grid boards."""
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

SIDE = 6
BOARDS = 32
STEPS = 360
BATCH = 1024
UPDATES = 2
CAPACITY = 9000
WARMUP = 2000
GAMMA = 0.95
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0], [0, 0]])


class CoinBoards:
    """All boards in one set of tensors; positions are (row, column)."""

    def __init__(self, count, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.count = count
        self.player = self._spots()
        self.guard = self._spots()
        self.coin = self._spots()
        self.age = torch.zeros(count, dtype=torch.long)

    def _spots(self):
        return torch.randint(0, SIDE, (self.count, 2), generator=self.g)

    def observe(self):
        planes = torch.zeros(self.count, 3, SIDE, SIDE)
        row = torch.arange(self.count)
        for i, p in enumerate((self.player, self.guard, self.coin)):
            planes[row, i, p[:, 0], p[:, 1]] = 1.0
        return planes.flatten(1)

    def step(self, actions):
        self.player = (self.player + MOVES[actions]).clamp(0, SIDE - 1)
        chase = (self.player - self.guard).sign()
        along = torch.randint(0, 2, (self.count,), generator=self.g)
        lazy = torch.rand(self.count, generator=self.g) < 0.5
        chase[torch.arange(self.count), along] = 0
        chase[lazy] = 0
        self.guard = self.guard + chase
        got = (self.player == self.coin).all(1)
        caught = (self.player == self.guard).all(1)
        reward = got.float() - caught.float() - 0.01
        self.age += 1
        done = caught | (self.age >= 60)
        fresh = self._spots()
        self.coin = torch.where(got[:, None], fresh, self.coin)
        restart_player, restart_guard = self._spots(), self._spots()
        self.player = torch.where(done[:, None], restart_player, self.player)
        self.guard = torch.where(done[:, None], restart_guard, self.guard)
        self.age[done] = 0
        return reward, done.float()


class Replay:
    def __init__(self, capacity):
        self.items = deque(maxlen=capacity)

    def __len__(self):
        return len(self.items)

    def add(self, state, action, reward, following, done):
        for transition in zip(state, action, reward, following, done):
            self.items.append(transition)

    def sample(self, count, rng):
        picked = [self.items[i] for i in rng.choices(range(len(self.items)), k=count)]
        return [torch.stack(field) for field in zip(*picked)]


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(3 * SIDE * SIDE, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU()
        )
        self.value = nn.Linear(48, 1)
        self.advantage = nn.Linear(48, len(MOVES))

    def forward(self, x):
        h = self.body(x)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(1, keepdim=True)


class Agent:
    def __init__(self, seed):
        torch.manual_seed(seed)
        self.online, self.target = QNet(), QNet()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)
        self.g = torch.Generator().manual_seed(seed + 1)

    @torch.no_grad()
    def act(self, state, epsilon):
        greedy = self.online(state).argmax(1)
        explore = torch.rand(len(state), generator=self.g) < epsilon
        other = torch.randint(0, len(MOVES), (len(state),), generator=self.g)
        return torch.where(explore, other, greedy)

    def learn(self, batch):
        state, action, reward, following, done = batch
        with torch.no_grad():
            best = self.online(following).argmax(1, keepdim=True)
            future = self.target(following).gather(1, best).squeeze(1)
            goal = reward + GAMMA * (1 - done) * future
        value = self.online(state).gather(1, action[:, None]).squeeze(1)
        loss = F.smooth_l1_loss(value, goal)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    @torch.no_grad()
    def follow(self, rate=0.01):
        for t, o in zip(self.target.parameters(), self.online.parameters()):
            t.lerp_(o, rate)


def main():
    rng = random.Random(5)
    env = CoinBoards(BOARDS, 1)
    agent = Agent(2)
    replay = Replay(CAPACITY)
    state = env.observe()
    window = torch.zeros(())
    loss = torch.zeros(())
    for step in range(1, STEPS + 1):
        action = agent.act(state, max(0.05, 1 - step / 200))
        reward, done = env.step(action)
        following = env.observe()
        replay.add(state, action, reward, following, done)
        state = following
        window += reward.mean()
        if len(replay) >= WARMUP:
            for _ in range(UPDATES):
                loss = agent.learn(replay.sample(BATCH, rng))
            agent.follow()
        if step % 120 == 0:
            print(f"step {step} reward per move {window.item() / 120:+.4f} loss {loss.item():.4f}")
            window.zero_()
    print(f"replay holds {len(replay)} transitions")


if __name__ == "__main__":
    main()
