"""Learns to open the vents of a greenhouse: days are simulated in another process, by the newest policy.

Planted: while a day is simulated, in 5 ms or so, the learner looks whether it is there, and naps 25 ms between looks.
Truth: time of looking and napping until the day is there, as a share of the loop.
"""
import math
import multiprocessing
import time

import torch
from torch import nn

from stopwatch import Stopwatch

SENSES, VENTS, HOURS, HOUSES = 12, 5, 24, 96


class Policy(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(SENSES, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.open, self.worth = nn.Linear(width, VENTS), nn.Linear(width, 1)

    def forward(self, senses):
        seen = self.body(senses)
        return self.open(seen), self.worth(seen).squeeze(-1)


def greenhouse(pipe):
    """Simulates a day of all houses for each set of weights that arrives."""
    torch.set_num_threads(1)
    policy = Policy()
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        while (weights := pipe.recv()) is not None:
            policy.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
            state, day = torch.rand(HOUSES, SENSES, generator=generator), []
            for hour in range(HOURS):
                odds, _ = policy(state)
                vent = torch.multinomial(odds.softmax(1), 1, generator=generator)
                sun = max(0.0, math.sin((hour - 6) / 12 * math.pi))
                warmth = state[:, 0] + 0.2 * sun - 0.08 * vent.squeeze(1) * state[:, 0]
                reward = -(warmth - 0.6).abs()
                day.append((state.clone().numpy(), vent.squeeze(1).numpy(), reward.numpy()))
                state = torch.cat([warmth.unsqueeze(1), state[:, :-1] * 0.9], 1)
            pipe.send(day)


def wait_for_day(pipe):
    while not pipe.poll():
        time.sleep(0.025)
    return pipe.recv()


def learn(policy, optimizer, day, passes=3):
    senses, vents, rewards = (torch.stack([torch.from_numpy(hour[k]) for hour in day]) for k in range(3))
    returns, later = torch.empty_like(rewards), torch.zeros(HOUSES)
    for hour in reversed(range(HOURS)):
        later = returns[hour] = rewards[hour] + 0.95 * later
    with torch.no_grad():
        before = policy(senses)[0].log_softmax(2).gather(2, vents.unsqueeze(2))
    for _ in range(passes):
        odds, worth = policy(senses)
        better = (returns - worth).detach().unsqueeze(2)
        ratio = (odds.log_softmax(2).gather(2, vents.unsqueeze(2)) - before).exp()
        loss = -torch.min(ratio * better, ratio.clamp(0.8, 1.2) * better).mean() + (returns - worth).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return returns[0].mean().item()


def main():
    torch.manual_seed(4)
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=greenhouse, args=(there,), daemon=True)
    process.start()
    policy, watch = Policy(), Stopwatch()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)

    def ask():
        here.send({name: value.numpy() for name, value in policy.state_dict().items()})

    ask()
    learn(policy, optimizer, here.recv())
    with watch.loop():
        for _ in watch.limited(range(100000), 6.5):
            ask()
            with watch.planted():
                day = wait_for_day(here)
            worth = learn(policy, optimizer, day)
            watch.step()
    here.send(None)
    process.join()
    print(f"a day is worth {worth:.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
