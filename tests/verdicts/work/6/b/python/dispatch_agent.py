"""Trains an actor-critic agent that assigns arriving jobs to server queues.

Many copies of the cluster are simulated at once as tensors.  Servers differ in
speed; the agent sees queue lengths and the job's size and picks a queue.  It is
compared with join-the-shortest-queue at the end.
"""
import torch
from torch import nn
from torch.nn import functional as F

SERVERS = 6
LIMIT = 12.0  # work that a queue can hold
CLUSTERS = 192
ROLLOUT = 24
UPDATES = 90
PASSES = 3
MINIBATCHES = 4
GAMMA, LAMBDA, CLIP = 0.97, 0.93, 0.2


class Clusters:
    """Work left per queue; jobs arrive every unit of time."""

    def __init__(self, count, seed):
        self.rng = torch.Generator().manual_seed(seed)
        self.speed = torch.linspace(0.08, 0.36, SERVERS)
        self.backlog = torch.zeros(count, SERVERS)
        self.job = self._sizes()

    def _sizes(self):
        u = torch.rand(len(self.backlog), generator=self.rng)
        return -torch.log1p(-u * 0.999) * 0.9

    def observe(self):
        delay = self.backlog / self.speed
        after = (self.backlog + self.job[:, None]) / self.speed
        return torch.cat([torch.log1p(delay), torch.log1p(after), self.job[:, None]], dim=1)

    def step(self, queue):
        rows = torch.arange(len(queue))
        self.backlog[rows, queue] += self.job
        delay = self.backlog[rows, queue] / self.speed[queue]
        self.backlog = (self.backlog - self.speed).clamp_(min=0, max=LIMIT)
        self.job = self._sizes()
        return delay


class Agent(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2 * SERVERS + 1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.policy = nn.Linear(width, SERVERS)
        self.value = nn.Linear(width, 1)
        nn.init.zeros_(self.policy.weight)

    def forward(self, state):
        h = self.body(state)
        return self.policy(h).log_softmax(dim=-1), self.value(h).squeeze(-1)


@torch.no_grad()
def collect(agent, env, sampler):
    states = torch.empty(ROLLOUT, CLUSTERS, 2 * SERVERS + 1)
    actions = torch.empty(ROLLOUT, CLUSTERS, dtype=torch.long)
    logps, values, rewards = (torch.empty(ROLLOUT, CLUSTERS) for _ in range(3))
    for t in range(ROLLOUT):
        states[t] = env.observe()
        logp, values[t] = agent(states[t])
        actions[t] = torch.multinomial(logp.exp(), 1, generator=sampler).squeeze(1)
        logps[t] = logp.gather(1, actions[t][:, None]).squeeze(1)
        rewards[t] = -0.3 * torch.log1p(env.step(actions[t]))
    _, following = agent(env.observe())
    advantages = torch.empty_like(rewards)
    trace = torch.zeros(CLUSTERS)
    for t in reversed(range(ROLLOUT)):
        delta = rewards[t] + GAMMA * following - values[t]
        trace = delta + GAMMA * LAMBDA * trace
        advantages[t] = trace
        following = values[t]
    flat = [x.flatten(0, 1) for x in (states, actions, logps, advantages, advantages + values)]
    return flat, rewards.mean().item()


def update(agent, optimizer, batch, sampler):
    states, actions, old, advantages, returns = batch
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
    for _ in range(PASSES):
        for rows in torch.randperm(len(states), generator=sampler).chunk(MINIBATCHES):
            logp, value = agent(states[rows])
            taken = logp.gather(1, actions[rows][:, None]).squeeze(1)
            ratio = (taken - old[rows]).exp()
            gain = torch.minimum(ratio * advantages[rows], ratio.clamp(1 - CLIP, 1 + CLIP) * advantages[rows])
            entropy = -(logp.exp() * logp).sum(dim=1).mean()
            loss = F.smooth_l1_loss(value, returns[rows]) - gain.mean() - 0.003 * entropy
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


@torch.no_grad()
def mean_delay(choose, steps=300):
    env = Clusters(CLUSTERS, seed=99)
    total = torch.zeros(())
    for t in range(steps):
        delay = env.step(choose(env))
        if t >= steps // 4:
            total += delay.mean()
    return total.item() / (steps - steps // 4)


def main():
    torch.manual_seed(2)
    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=UPDATES)
    env, sampler = Clusters(CLUSTERS, seed=7), torch.Generator().manual_seed(13)
    first = last = None
    for k in range(UPDATES):
        batch, reward = collect(agent, env, sampler)
        update(agent, optimizer, batch, sampler)
        schedule.step()
        first = reward if first is None else first
        last = reward
    shortest = mean_delay(lambda e: e.backlog.argmin(dim=1))
    learned = mean_delay(lambda e: agent(e.observe())[0].argmax(dim=1))
    print(f"updates {UPDATES}  mean reward {first:.3f} -> {last:.3f}")
    print(f"mean delay: shortest queue {shortest:.2f}, agent {learned:.2f}")


if __name__ == "__main__":
    main()
