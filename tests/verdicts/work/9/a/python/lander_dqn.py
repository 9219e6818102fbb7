"""Double DQN for a one-dimensional landing task with a vectorised simulator."""
import torch
import torch.nn.functional as F
from torch import nn

OBS = 24
ACTIONS = 5
CAPACITY = 45_000


class LanderFleet:
    """Many landers in parallel: altitude, speed, fuel and wind history."""

    def __init__(self, count, generator):
        self.count = count
        self.g = generator
        self.altitude = torch.zeros(count)
        self.speed = torch.zeros(count)
        self.fuel = torch.zeros(count)
        self.wind = torch.zeros(count, OBS - 4)
        self.age = torch.zeros(count)
        self._reset(torch.ones(count, dtype=torch.bool))

    def _reset(self, mask):
        n = int(mask.sum())
        if n:
            self.altitude[mask] = 8 + 4 * torch.rand(n, generator=self.g)
            self.speed[mask] = -torch.rand(n, generator=self.g)
            self.fuel[mask] = 1.0
            self.wind[mask] = 0.0
            self.age[mask] = 0.0

    def observe(self):
        head = torch.stack([self.altitude / 10, self.speed, self.fuel, self.age / 100], dim=1)
        return torch.cat([head, self.wind], dim=1)

    def step(self, action):
        thrust = action.float() / (ACTIONS - 1) * (self.fuel > 0)
        gust = 0.05 * torch.randn(self.count, generator=self.g)
        self.wind = torch.cat([self.wind[:, 1:], gust.unsqueeze(1)], dim=1)
        self.speed += 0.1 * (2.0 * thrust - 1.0) + gust
        self.altitude += 0.2 * self.speed
        self.fuel = (self.fuel - 0.006 * thrust).clamp(min=0)
        self.age += 1
        landed = self.altitude <= 0
        timeout = self.age >= 120
        reward = -0.01 - 0.05 * (self.speed.abs() - 1).clamp(min=0)
        reward = torch.where(landed, 2.0 - 2.0 * self.speed.abs(), reward)
        done = landed | timeout
        self._reset(done)
        return reward, done.float()


class ReplayMemory:
    """Keeps the most recent transitions."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.obs = torch.empty(0, OBS)
        self.next_obs = torch.empty(0, OBS)
        self.action = torch.empty(0, dtype=torch.long)
        self.reward = torch.empty(0)
        self.done = torch.empty(0)

    def __len__(self):
        return len(self.obs)

    def push(self, obs, action, reward, next_obs, done):
        self.obs = torch.cat([self.obs, obs])[-self.capacity:]
        self.next_obs = torch.cat([self.next_obs, next_obs])[-self.capacity:]
        self.action = torch.cat([self.action, action])[-self.capacity:]
        self.reward = torch.cat([self.reward, reward])[-self.capacity:]
        self.done = torch.cat([self.done, done])[-self.capacity:]

    def sample(self, size, generator):
        i = torch.randint(len(self), (size,), generator=generator)
        return self.obs[i], self.action[i], self.reward[i], self.next_obs[i], self.done[i]


class QNet(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(OBS, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.value = nn.Linear(width, 1)
        self.advantage = nn.Linear(width, ACTIONS)

    def forward(self, x):
        h = self.trunk(x)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(dim=1, keepdim=True)


class Agent:
    def __init__(self, gamma=0.98, tau=0.01):
        self.online, self.target = QNet(), QNet()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.RMSprop(self.online.parameters(), lr=4e-4)
        self.gamma, self.tau = gamma, tau

    @torch.no_grad()
    def act(self, obs, epsilon, generator):
        greedy = self.online(obs).argmax(1)
        explore = torch.rand(len(obs), generator=generator) < epsilon
        wild = torch.randint(ACTIONS, (len(obs),), generator=generator)
        return torch.where(explore, wild, greedy)

    def learn(self, obs, action, reward, next_obs, done):
        with torch.no_grad():
            best = self.online(next_obs).argmax(1, keepdim=True)
            future = self.target(next_obs).gather(1, best).squeeze(1)
            goal = reward + self.gamma * (1 - done) * future
        q = self.online(obs).gather(1, action.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(q, goal)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            for t, o in zip(self.target.parameters(), self.online.parameters()):
                t.lerp_(o, self.tau)
        return loss.detach()


def main():
    torch.manual_seed(3)
    generator = torch.Generator().manual_seed(4)
    fleet = LanderFleet(32, generator)
    memory = ReplayMemory(CAPACITY)
    agent = Agent()
    steps = 1600
    reward_sum, landings = torch.zeros(()), torch.zeros(())
    obs = fleet.observe()
    for step in range(steps):
        epsilon = max(0.05, 1.0 - step / 1000)
        action = agent.act(obs, epsilon, generator)
        reward, done = fleet.step(action)
        next_obs = fleet.observe()
        memory.push(obs, action, reward, next_obs, done)
        obs = next_obs
        if len(memory) >= 512 and step % 2 == 0:
            agent.learn(*memory.sample(128, generator))
        if step >= steps - 500:
            reward_sum += reward.sum()
            landings += done.sum()
    print(f"{len(memory)} transitions kept, {int(landings)} episodes in the last 500 steps, "
          f"reward per episode {(reward_sum / landings).item():.2f}")


if __name__ == "__main__":
    main()
