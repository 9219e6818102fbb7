"""Deep Q-learning for a stock-keeping problem: many shops in one vector environment, replay, target net."""
import copy
import json
import time

import torch
from torch import nn

torch.set_num_threads(1)
SHOPS, ORDERS, CAP, DECISIONS = 64, 8, 40, 280


class Shops:
    def __init__(self, gen):
        self.gen = gen
        self.stock = torch.full((SHOPS,), 15.0)
        self.season = torch.rand(SHOPS, generator=gen)

    def observe(self):
        wave = 2 * torch.pi * self.season
        left = self.stock / CAP
        return torch.stack([left, left ** 2, wave.sin(), wave.cos(), (left < 0.2).float()], 1)

    def step(self, action):
        ordered = action * 2.0
        rate = 5 + 3 * torch.sin(2 * torch.pi * self.season)
        demand = torch.poisson(rate, generator=self.gen)
        full = (self.stock + ordered).clamp(max=CAP)
        sold = torch.minimum(full, demand)
        self.stock = full - sold
        self.season = (self.season + 1 / 52) % 1
        reward = sold - 0.35 * ordered - 0.08 * self.stock - 0.8 * (demand - sold) - 0.6 * (ordered > 0)
        return self.observe(), reward / 5


class Replay:
    def __init__(self, size, width):
        self.obs, self.nxt = torch.zeros(size, width), torch.zeros(size, width)
        self.act, self.rew = torch.zeros(size, dtype=torch.long), torch.zeros(size)
        self.size, self.at, self.full = size, 0, 0

    def add(self, obs, act, rew, nxt):
        rows = (torch.arange(len(act)) + self.at) % self.size
        self.obs[rows], self.act[rows], self.rew[rows], self.nxt[rows] = obs, act, rew, nxt
        self.at = (self.at + len(act)) % self.size
        self.full = min(self.size, self.full + len(act))

    def sample(self, n):
        rows = torch.randint(0, self.full, (n,))
        return self.obs[rows], self.act[rows], self.rew[rows], self.nxt[rows]


def q_net():
    return nn.Sequential(nn.Linear(5, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, ORDERS))


def main():
    torch.manual_seed(25)
    gen = torch.Generator().manual_seed(4)
    env, replay = Shops(gen), Replay(8192, 5)
    net = q_net()
    target = copy.deepcopy(net).requires_grad_(False)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    obs = env.observe()
    window = []
    begin = time.perf_counter()
    for step in range(DECISIONS):
        explore = max(0.05, 1 - step / 150)
        with torch.inference_mode():
            best = net(obs).argmax(1)
        act = torch.where(torch.rand(SHOPS) < explore, torch.randint(0, ORDERS, (SHOPS,)), best)
        nxt, rew = env.step(act)
        replay.add(obs, act, rew, nxt)
        obs = nxt
        window.append(rew.mean())
        for _ in range(3):
            o, a, r, n = replay.sample(256)
            with torch.no_grad():
                choice = net(n).argmax(1, keepdim=True)
                goal = r + 0.95 * target(n).gather(1, choice).squeeze(1)
            value = net(o).gather(1, a[:, None]).squeeze(1)
            loss = nn.functional.smooth_l1_loss(value, goal)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        if step % 10 == 9:
            target.load_state_dict(net.state_dict())
        if step % 56 == 55:
            print(f"week {step + 1}  reward {torch.stack(window).mean():.3f}  loss {loss.item():.4f}  stock {env.stock.mean():.1f}")
            window.clear()
    total = time.perf_counter() - begin
    print("TRUTH", json.dumps({"share": 0, "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
