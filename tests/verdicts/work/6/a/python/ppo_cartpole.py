"""PPO on a vectorised cart-pole, to choose the controller of the balancing
trolley.  Rollouts run without gradients on batches of environments; advantages
come from GAE; prints the mean length of finished episodes."""
import math

import torch
from torch import nn

ENVS, HORIZON, UPDATES, EPOCHS, MINIBATCH = 128, 64, 30, 4, 2048


class CartPoles:
    """A batch of cart-poles as one tensor of states (x, v, angle, rate)."""
    LIMIT = 300

    def __init__(self, n, seed):
        self.n = n
        self.gen = torch.Generator().manual_seed(seed)
        self.state = self.fresh(n)
        self.age = torch.zeros(n)
        self.finished_steps = torch.zeros((), dtype=torch.float64)
        self.finished = torch.zeros((), dtype=torch.float64)

    def fresh(self, n):
        return (torch.rand(n, 4, generator=self.gen) - 0.5) * 0.1

    def step(self, action):
        x, v, a, w = self.state.unbind(1)
        force = action.to(torch.float32) * 20 - 10
        sin, cos = a.sin(), a.cos()
        tmp = (force + 0.05 * w * w * sin) / 1.1
        acc = (9.8 * sin - cos * tmp) / (0.5 * (4.0 / 3.0 - 0.1 * cos * cos / 1.1))
        xacc = tmp - 0.05 * acc * cos / 1.1
        state = torch.stack([x + 0.02 * v, v + 0.02 * xacc, a + 0.02 * w, w + 0.02 * acc], 1)
        self.age += 1
        fell = (state[:, 0].abs() > 2.4) | (state[:, 2].abs() > 0.2095)
        done = fell | (self.age >= self.LIMIT)
        self.finished_steps += (self.age * done).sum()
        self.finished += done.sum()
        self.age.masked_fill_(done, 0)
        self.state = torch.where(done[:, None], self.fresh(self.n), state)
        return self.state, done.float()

    def drain(self):
        mean = float(self.finished_steps / self.finished.clamp(min=1))
        self.finished_steps.zero_()
        self.finished.zero_()
        return mean


class ActorCritic(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.actor = self.mlp(hidden, 2, 0.01)
        self.critic = self.mlp(hidden, 1, 1.0)

    @staticmethod
    def mlp(hidden, out, gain):
        net = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, out))
        for layer in net[::2]:
            nn.init.orthogonal_(layer.weight, math.sqrt(2))
            nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(net[-1].weight, gain)
        return net

    def forward(self, obs):
        return self.actor(obs).log_softmax(-1), self.critic(obs).squeeze(-1)


class Rollout:
    """Preallocated storage of one horizon."""

    def __init__(self):
        self.obs = torch.empty(HORIZON, ENVS, 4)
        self.action = torch.empty(HORIZON, ENVS, dtype=torch.long)
        self.logp = torch.empty(HORIZON, ENVS)
        self.value = torch.empty(HORIZON + 1, ENVS)
        self.done = torch.empty(HORIZON, ENVS)

    @torch.inference_mode()
    def collect(self, model, envs, gen):
        for t in range(HORIZON):
            obs = envs.state
            logp, value = model(obs)
            right = torch.rand(ENVS, generator=gen) < logp[:, 1].exp()
            action = right.long()
            self.obs[t], self.value[t], self.action[t] = obs, value, action
            self.logp[t] = logp.gather(1, action[:, None]).squeeze(1)
            _, self.done[t] = envs.step(action)
        self.value[HORIZON] = model(envs.state)[1]

    def advantages(self, gamma=0.99, lam=0.95):
        adv = torch.empty(HORIZON, ENVS)
        running = torch.zeros(ENVS)
        for t in reversed(range(HORIZON)):
            alive = 1 - self.done[t]
            delta = 1.0 - 5.0 * self.done[t] + gamma * alive * self.value[t + 1] - self.value[t]
            running = delta + gamma * lam * alive * running
            adv[t] = running
        return adv, adv + self.value[:-1]


def update(model, opt, roll, gen):
    adv, ret = roll.advantages()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    obs, action, logp_old = roll.obs.flatten(0, 1), roll.action.flatten(), roll.logp.flatten()
    adv, ret = adv.flatten(), ret.flatten()
    for _ in range(EPOCHS):
        for ids in torch.randperm(len(obs), generator=gen).split(MINIBATCH):
            logp_all, value = model(obs[ids])
            logp = logp_all.gather(1, action[ids, None]).squeeze(1)
            ratio = (logp - logp_old[ids]).exp()
            a = adv[ids]
            policy = -torch.min(ratio * a, ratio.clamp(0.8, 1.2) * a).mean()
            entropy = -(logp_all.exp() * logp_all).sum(1).mean()
            loss = policy + 0.5 * (value - ret[ids]).pow(2).mean() - 0.01 * entropy
            opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            opt.step()


def main():
    torch.manual_seed(12)
    gen = torch.Generator().manual_seed(13)
    envs, model, roll = CartPoles(ENVS, 14), ActorCritic(), Rollout()
    opt = torch.optim.Adam(model.parameters(), lr=2.5e-3, eps=1e-5)
    for n in range(UPDATES):
        for group in opt.param_groups:
            group["lr"] = 2.5e-3 * (1 - n / UPDATES)
        roll.collect(model, envs, gen)
        update(model, opt, roll, gen)
        print(f"update {n} mean episode {envs.drain():.1f}", flush=True)


if __name__ == "__main__":
    main()
