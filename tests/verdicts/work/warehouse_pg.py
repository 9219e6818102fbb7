"""Policy gradient for a small warehouse grid: carry to the dock, avoid shelves."""
import argparse
import json
import time

import torch
from torch import nn
from torch.distributions import Categorical

torch.set_num_threads(1)
GRID, ENVS, HORIZON = 7, 32, 24
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


class Warehouse:
    """A vector of independent grids."""

    def __init__(self, gen):
        self.gen = gen
        self.shelf = torch.zeros(GRID, GRID, dtype=torch.bool)
        self.shelf[2, 1:4] = True
        self.shelf[4, 3:6] = True
        self.dock = torch.tensor([6, 6])

    def reset(self):
        self.pos = torch.randint(0, 2, (ENVS, 2), generator=self.gen)
        return self.observe()

    def observe(self):
        one = torch.zeros(ENVS, GRID * GRID)
        one.scatter_(1, (self.pos[:, :1] * GRID + self.pos[:, 1:]), 1.0)
        return torch.cat([one, (self.dock - self.pos) / GRID], 1)

    def step(self, action):
        new = (self.pos + MOVES[action]).clamp(0, GRID - 1)
        hit = self.shelf[new[:, 0], new[:, 1]]
        self.pos = torch.where(hit[:, None], self.pos, new)
        there = (self.pos == self.dock).all(1)
        reward = there.float() - 0.02 - 0.05 * hit.float()
        return self.observe(), reward


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(GRID * GRID + 2, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh())
        self.pi, self.v = nn.Linear(128, 4), nn.Linear(128, 1)

    def forward(self, obs):
        h = self.net(obs)
        return self.pi(h), self.v(h).squeeze(-1)


@torch.no_grad()
def choose(policy, obs, together):
    if together:
        return Categorical(logits=policy(obs)[0]).sample()
    actions = []
    for robot in obs:
        logits, _ = policy(robot.unsqueeze(0))
        actions.append(Categorical(logits=logits).sample().item())
    return torch.tensor(actions)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--rounds", type=int, default=30)
    args = ap.parse_args()
    torch.manual_seed(10)
    env = Warehouse(torch.Generator().manual_seed(14))
    policy = Policy()
    opt = torch.optim.Adam(policy.parameters(), lr=2e-3)
    act_seconds = 0.0
    begin = time.perf_counter()
    for round_no in range(args.rounds):
        obs, seen, did, got = env.reset(), [], [], []
        for _ in range(HORIZON):
            start = time.perf_counter()
            action = choose(policy, obs, args.repaired)
            act_seconds += time.perf_counter() - start
            seen.append(obs)
            did.append(action)
            obs, reward = env.step(action)
            got.append(reward)
        ret, running = [], torch.zeros(ENVS)
        for r in reversed(got):
            running = r + 0.95 * running
            ret.insert(0, running)
        ret = torch.cat(ret)
        seen, did = torch.cat(seen), torch.cat(did)
        for _ in range(4):
            logits, value = policy(seen)
            dist = Categorical(logits=logits)
            adv = (ret - value).detach()
            adv = (adv - adv.mean()) / (adv.std() + 1e-6)
            loss = -(dist.log_prob(did) * adv).mean() + 0.5 * (ret - value).pow(2).mean() - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            opt.step()
        if round_no % 6 == 5:
            print(f"round {round_no + 1}  return {torch.stack(got).sum(0).mean():.3f}  loss {loss.item():.4f}")
    total = time.perf_counter() - begin
    print("TRUTH", json.dumps({"share": round(act_seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
