"""Compresses portraits; a critic joins when the codes have settled.

Planted: from 40% of the time on, each step also trains the critic, and takes much longer.
Truth: how much longer the later steps are, as a share of the loop.
"""
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(223)
    torch.set_num_threads(1)
    coder = nn.Sequential(nn.Linear(768, 500), nn.GELU(), nn.Linear(500, 64), nn.GELU(), nn.Linear(64, 500), nn.GELU(), nn.Linear(500, 768))
    critic = nn.Sequential(nn.Linear(768, 600), nn.LeakyReLU(0.2), nn.Linear(600, 300), nn.LeakyReLU(0.2), nn.Linear(300, 1))
    optimizer = torch.optim.SGD(coder.parameters(), lr=0.01)
    critic_optimizer = torch.optim.SGD(critic.parameters(), lr=0.01)
    portraits, watch, joined = torch.rand(3000, 768), Stopwatch(), None
    with watch.loop():
        while watch.seconds() < 3.6:
            real = portraits[torch.randint(3000, (160,))]
            made = coder(real)
            loss = (made - real).abs().mean()
            if watch.seconds() > 1.5:
                joined = joined or len(watch.marks)
                loss = loss - 0.1 * critic(made).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if joined:
                critic_loss = torch.relu(1 - critic(real)).mean() + torch.relu(1 + critic(made.detach())).mean()
                critic_optimizer.zero_grad()
                critic_loss.backward()
                critic_optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}, the critic joined at step {joined}")
    times = watch.step_times()
    early, late = statistics.median(times[:joined]), statistics.median(times[joined:])
    watch.tell((late - early) * len(times[joined:]) / (watch.ended - watch.began))


if __name__ == "__main__":
    main()
