"""PPO for a docking manoeuvre: a thruster craft in the plane has to come to rest
at the berth.  Environments are simulated side by side as one batch."""
import torch
from torch import nn
from torch.distributions import Normal

ENVS, HORIZON = 24, 96
ITERATIONS = 28
GAMMA, LAMBDA = 0.985, 0.95
CLIP, EPOCHS, MINIBATCH = 0.2, 3, 576


class DockingEnvs:
    def __init__(self, count: int, seed: int):
        self.count = count
        self.generator = torch.Generator().manual_seed(seed)
        self.state = torch.zeros(count, 4)          # position and velocity
        self.clock = torch.zeros(count)
        self.reset(torch.ones(count, dtype=torch.bool))

    def reset(self, mask: torch.Tensor) -> None:
        fresh = torch.rand(self.count, 4, generator=self.generator) * 2 - 1
        fresh[:, :2] *= 3
        fresh[:, 2:] *= 0.3
        self.state = torch.where(mask[:, None], fresh, self.state)
        self.clock = torch.where(mask, torch.zeros(()), self.clock)

    def observe(self) -> torch.Tensor:
        return torch.cat([self.state, (self.clock / 100)[:, None]], dim=1)

    def step(self, action: torch.Tensor):
        thrust = action.clamp(-1, 1)
        pos, vel = self.state[:, :2], self.state[:, 2:]
        before = pos.norm(dim=1)
        vel = 0.98 * vel + 0.12 * thrust
        pos = pos + 0.2 * vel
        self.state = torch.cat([pos, vel], dim=1)
        self.clock = self.clock + 1
        distance, speed = pos.norm(dim=1), vel.norm(dim=1)
        docked = (distance < 0.4) & (speed < 0.6)
        reward = before - distance - 0.01 - 0.005 * thrust.square().sum(1) + 2.0 * docked
        done = docked | (distance > 8) | (self.clock >= 100)
        self.reset(done)
        return self.observe(), reward, done, docked


class ActorCritic(nn.Module):
    def __init__(self, hidden: int = 64):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(5, hidden), nn.Tanh(), nn.Linear(hidden, hidden),
                                   nn.Tanh(), nn.Linear(hidden, 2))
        self.critic = nn.Sequential(nn.Linear(5, hidden), nn.Tanh(), nn.Linear(hidden, hidden),
                                    nn.Tanh(), nn.Linear(hidden, 1))
        self.log_std = nn.Parameter(torch.full((2,), -0.5))

    def policy(self, obs: torch.Tensor) -> Normal:
        return Normal(self.actor(obs), self.log_std.exp())

    def value(self, obs: torch.Tensor) -> torch.Tensor:
        return self.critic(obs).squeeze(-1)


@torch.no_grad()
def rollout(envs: DockingEnvs, net: ActorCritic, generator: torch.Generator) -> dict:
    data = {k: [] for k in ("obs", "act", "logp", "val", "rew", "done")}
    docked = 0
    obs = envs.observe()
    for _ in range(HORIZON):
        pi = net.policy(obs)
        act = pi.loc + pi.scale * torch.randn(pi.loc.shape, generator=generator)
        nxt, rew, done, ok = envs.step(act)
        for key, value in zip(data, (obs, act, pi.log_prob(act).sum(1), net.value(obs), rew, done)):
            data[key].append(value)
        docked += int(ok.sum())
        obs = nxt
    batch = {k: torch.stack(v) for k, v in data.items()}
    batch["last"] = net.value(obs)
    batch["docked"] = docked
    return batch


def advantages(batch: dict) -> tuple[torch.Tensor, torch.Tensor]:
    """Generalised advantage estimation over a (time, env) batch."""
    rew, val, done = batch["rew"], batch["val"], batch["done"]
    adv = torch.zeros_like(rew)
    running = torch.zeros(ENVS)
    following = batch["last"]
    for t in reversed(range(HORIZON)):
        alive = 1.0 - done[t].float()
        delta = rew[t] + GAMMA * following * alive - val[t]
        running = delta + GAMMA * LAMBDA * alive * running
        adv[t] = running
        following = val[t]
    return adv, adv + val


def update(net: ActorCritic, optimizer, batch: dict, generator: torch.Generator) -> float:
    adv, ret = advantages(batch)
    adv = ((adv - adv.mean()) / (adv.std() + 1e-8)).reshape(-1)
    ret = ret.reshape(-1)
    obs = batch["obs"].reshape(-1, 5)
    act = batch["act"].reshape(-1, 2)
    logp = batch["logp"].reshape(-1)
    value_loss = torch.zeros(())
    for _ in range(EPOCHS):
        for index in torch.randperm(len(obs), generator=generator).split(MINIBATCH):
            pi = net.policy(obs[index])
            ratio = (pi.log_prob(act[index]).sum(1) - logp[index]).exp()
            a = adv[index]
            policy_loss = -torch.min(ratio * a, ratio.clamp(1 - CLIP, 1 + CLIP) * a).mean()
            value_loss = (net.value(obs[index]) - ret[index]).square().mean()
            loss = policy_loss + 0.5 * value_loss - 0.002 * pi.entropy().sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
    return value_loss.item()


def main() -> None:
    torch.manual_seed(5)
    generator = torch.Generator().manual_seed(6)
    envs, net = DockingEnvs(ENVS, seed=7), ActorCritic()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for it in range(ITERATIONS):
        batch = rollout(envs, net, generator)
        loss = update(net, optimizer, batch, generator)
        if it % 9 == 0:
            print(f"iteration {it:3d} reward {batch['rew'].mean():.3f} "
                  f"docked {batch['docked']} value loss {loss:.2f}")


if __name__ == "__main__":
    main()
