"""PPO for couriers on a city grid; many environments step as one batch."""
import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn import functional as F

GRID = 10
ENVS = 128
HORIZON = 64
UPDATES = 13
EPOCHS = 4
MINIBATCH = 1024
GAMMA, LAMBDA, CLIP = 0.98, 0.95, 0.2
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


class CourierGrid:
    """Pick a parcel up, bring it to its address; blocked streets are fixed."""

    def __init__(self, n, seed):
        self.n = n
        self.g = torch.Generator().manual_seed(seed)
        self.blocked = torch.rand(GRID, GRID, generator=self.g) < 0.12
        self.blocked[0] = self.blocked[:, 0] = False
        self.courier = self.free_cells(n)
        self.parcel = self.free_cells(n)
        self.address = self.free_cells(n)
        self.loaded = torch.zeros(n, dtype=torch.bool)
        self.delivered = 0

    def free_cells(self, n):
        cells = (~self.blocked).nonzero()
        return cells[torch.randint(0, len(cells), (n,), generator=self.g)]

    def observe(self):
        goal = torch.where(self.loaded.unsqueeze(1), self.address, self.parcel)
        near = []
        for move in MOVES:
            cell = self.courier + move
            outside = ((cell < 0) | (cell >= GRID)).any(1)
            cell = cell.clamp(0, GRID - 1)
            near.append(outside | self.blocked[cell[:, 0], cell[:, 1]])
        place = F.one_hot(self.courier, GRID).flatten(1)
        target = F.one_hot(goal, GRID).flatten(1)
        extra = torch.stack(near + [self.loaded], dim=1)
        return torch.cat([place, target, extra], dim=1).float()

    def step(self, action):
        cell = self.courier + MOVES[action]
        legal = ((cell >= 0) & (cell < GRID)).all(1)
        safe = cell.clamp(0, GRID - 1)
        legal &= ~self.blocked[safe[:, 0], safe[:, 1]]
        self.courier = torch.where(legal.unsqueeze(1), safe, self.courier)
        reward = torch.where(legal, -0.02, -0.08)
        pick = ~self.loaded & (self.courier == self.parcel).all(1)
        drop = self.loaded & (self.courier == self.address).all(1)
        reward = reward + 0.5 * pick + 1.0 * drop
        self.loaded = (self.loaded | pick) & ~drop
        self.delivered += int(drop.sum())
        self.parcel = torch.where(drop.unsqueeze(1), self.free_cells(self.n), self.parcel)
        self.address = torch.where(drop.unsqueeze(1), self.free_cells(self.n), self.address)
        return self.observe(), reward, drop


class ActorCritic(nn.Module):
    def __init__(self, inputs, width=128):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.Tanh(),
                                  nn.Linear(width, width), nn.Tanh())
        self.policy = nn.Linear(width, len(MOVES))
        self.value = nn.Linear(width, 1)
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                nn.init.orthogonal_(layer.weight, 2 ** 0.5)
                nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def forward(self, x):
        h = self.body(x)
        return self.policy(h), self.value(h).squeeze(-1)


class Rollout:
    def __init__(self, inputs):
        self.obs = torch.empty(HORIZON, ENVS, inputs)
        self.action = torch.empty(HORIZON, ENVS, dtype=torch.long)
        self.logp = torch.empty(HORIZON, ENVS)
        self.reward = torch.empty(HORIZON, ENVS)
        self.done = torch.empty(HORIZON, ENVS)
        self.value = torch.empty(HORIZON + 1, ENVS)

    @torch.no_grad()
    def collect(self, env, model, obs):
        for t in range(HORIZON):
            logits, self.value[t] = model(obs)
            dist = Categorical(logits=logits, validate_args=False)
            action = dist.sample()
            self.obs[t], self.action[t], self.logp[t] = obs, action, dist.log_prob(action)
            obs, self.reward[t], self.done[t] = env.step(action)
        self.value[HORIZON] = model(obs)[1]
        return obs

    def advantages(self):
        out = torch.empty(HORIZON, ENVS)
        running = torch.zeros(ENVS)
        for t in reversed(range(HORIZON)):
            alive = 1 - self.done[t]
            delta = self.reward[t] + GAMMA * alive * self.value[t + 1] - self.value[t]
            running = delta + GAMMA * LAMBDA * alive * running
            out[t] = running
        return out


def update(model, opt, rollout):
    advantage = rollout.advantages()
    goal = (advantage + rollout.value[:-1]).flatten()
    advantage = ((advantage - advantage.mean()) / (advantage.std() + 1e-8)).flatten()
    obs, action, old = rollout.obs.flatten(0, 1), rollout.action.flatten(), rollout.logp.flatten()
    for _ in range(EPOCHS):
        for index in torch.randperm(len(obs)).split(MINIBATCH):
            logits, value = model(obs[index])
            dist = Categorical(logits=logits, validate_args=False)
            ratio = (dist.log_prob(action[index]) - old[index]).exp()
            a = advantage[index]
            gain = torch.minimum(ratio * a, ratio.clamp(1 - CLIP, 1 + CLIP) * a).mean()
            loss = -gain + 0.5 * F.mse_loss(value, goal[index]) - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            opt.step()


def main():
    torch.manual_seed(0)
    env = CourierGrid(ENVS, 1)
    obs = env.observe()
    model = ActorCritic(obs.shape[1])
    opt = torch.optim.Adam(model.parameters(), lr=1.5e-3, eps=1e-5)
    rollout = Rollout(obs.shape[1])
    for k in range(UPDATES):
        before = env.delivered
        obs = rollout.collect(env, model, obs)
        update(model, opt, rollout)
        if k % 4 == 0 or k == UPDATES - 1:
            print(f"update {k}: deliveries {env.delivered - before}, "
                  f"mean reward {rollout.reward.mean().item():.3f}")


if __name__ == "__main__":
    main()
