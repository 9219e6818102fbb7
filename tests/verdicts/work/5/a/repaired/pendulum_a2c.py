"""Actor-critic training of the swing-up controller on a vectorised pendulum.

Continuous actions, generalised advantage estimates, clipped policy updates.
"""
import math

import torch
from torch import nn
from torch.distributions import Normal

ENVS = 32
HORIZON = 120
ITERATIONS = 32
EPOCHS = 3
MINIBATCH = 960
GAMMA, LAMBDA = 0.97, 0.95
CLIP = 0.2


class Pendulums:
    """A batch of independent pendulums, each restarted after 120-200 steps."""

    def __init__(self, n, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.n = n
        self.angle = torch.empty(n)
        self.speed = torch.empty(n)
        self.age = torch.zeros(n, dtype=torch.long)
        self.limit = torch.randint(120, 200, (n,), generator=self.g)
        self._restart(torch.ones(n, dtype=torch.bool))

    def _restart(self, mask):
        angle = (torch.rand(self.n, generator=self.g) * 2 - 1) * math.pi
        speed = torch.rand(self.n, generator=self.g) * 2 - 1
        self.angle = torch.where(mask, angle, self.angle)
        self.speed = torch.where(mask, speed, self.speed)
        self.age = torch.where(mask, 0, self.age)

    def observe(self):
        return torch.stack([self.angle.cos(), self.angle.sin(), self.speed / 4], dim=1)

    def step(self, action):
        torque = action.clamp(-1, 1) * 2
        wrapped = torch.remainder(self.angle + math.pi, 2 * math.pi) - math.pi
        cost = wrapped**2 + 0.1 * self.speed**2 + 0.001 * torque**2
        self.speed = (self.speed + (15 * self.angle.sin() + 3 * torque) * 0.05).clamp(-8, 8)
        self.angle = self.angle + self.speed * 0.05
        self.age += 1
        done = self.age >= self.limit
        if done.any():
            self._restart(done)
        return -cost / 8, done


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
        self.critic = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
        self.log_std = nn.Parameter(torch.full((1,), -0.3))
        with torch.no_grad():
            self.actor[-1].weight.mul_(0.1)

    def policy(self, obs):
        return Normal(self.actor(obs).squeeze(-1), self.log_std.exp())

    def value(self, obs):
        return self.critic(obs).squeeze(-1)


class Rollout:
    def __init__(self):
        self.obs = torch.empty(HORIZON, ENVS, 3)
        self.action = torch.empty(HORIZON, ENVS)
        self.log_prob = torch.empty(HORIZON, ENVS)
        self.value = torch.empty(HORIZON + 1, ENVS)
        self.reward = torch.empty(HORIZON, ENVS)
        self.alive = torch.empty(HORIZON, ENVS)

    @torch.no_grad()
    def collect(self, model, env, generator):
        for t in range(HORIZON):
            obs = env.observe()
            pi = model.policy(obs)
            action = pi.mean + pi.stddev * torch.randn(ENVS, generator=generator)
            self.obs[t], self.action[t] = obs, action
            self.log_prob[t] = pi.log_prob(action)
            self.value[t] = model.value(obs)
            self.reward[t], done = env.step(action)
            self.alive[t] = 1.0 - done.float()
        self.value[HORIZON] = model.value(env.observe())

    def advantages(self):
        adv = torch.zeros(HORIZON, ENVS)
        running = torch.zeros(ENVS)
        for t in reversed(range(HORIZON)):
            alive = self.alive[t]
            delta = self.reward[t] + GAMMA * self.value[t + 1] * alive - self.value[t]
            running = delta + GAMMA * LAMBDA * alive * running
            adv[t] = running
        return adv


def normalise(x):
    return (x - x.mean()) / (x.std() + 1e-6)


def update(model, optimizers, rollout, generator):
    adv = rollout.advantages()
    returns = (adv + rollout.value[:-1]).flatten()
    obs = rollout.obs.reshape(-1, 3)
    action, old = rollout.action.flatten(), rollout.log_prob.flatten()
    adv = normalise(adv).flatten()
    policy_loss = value_loss = torch.zeros(())
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(obs), generator=generator).split(MINIBATCH):
            pi = model.policy(obs[rows])
            ratio = (pi.log_prob(action[rows]) - old[rows]).exp()
            gain = torch.minimum(ratio * adv[rows], ratio.clamp(1 - CLIP, 1 + CLIP) * adv[rows])
            policy_loss = -gain.mean() - 0.002 * pi.entropy().mean()
            value_loss = nn.functional.smooth_l1_loss(model.value(obs[rows]), returns[rows])
            for optimizer, loss, part in zip(optimizers, (policy_loss, value_loss), (model.actor, model.critic)):
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(part.parameters(), 0.5)
                optimizer.step()
    return policy_loss.detach(), value_loss.detach()


@torch.no_grad()
def evaluate(model, episodes=32):
    env = Pendulums(episodes, seed=999)
    total = torch.zeros(episodes)
    for _ in range(120):
        reward, _ = env.step(model.actor(env.observe()).squeeze(-1))
        total += reward
    return total.mean().item()


def main():
    torch.manual_seed(12)
    generator = torch.Generator().manual_seed(34)
    env = Pendulums(ENVS, seed=56)
    model, rollout = ActorCritic(), Rollout()
    optimizers = (
        torch.optim.Adam([*model.actor.parameters(), model.log_std], lr=1e-3),
        torch.optim.Adam(model.critic.parameters(), lr=2e-3),
    )
    print(f"before: return {evaluate(model):.2f}")
    for iteration in range(1, ITERATIONS + 1):
        rollout.collect(model, env, generator)
        _, value_loss = update(model, optimizers, rollout, generator)
        if iteration % 8 == 0:
            print(f"iteration {iteration}: reward {rollout.reward.mean():.4f}, value loss {value_loss:.4f}")
    print(f"after: return {evaluate(model):.2f}")


if __name__ == "__main__":
    main()
