"""Learns to feather a windmill's sails: a policy and a value from short flights of a simulated mill, all mills at once as tensors.

Clean: nothing is planted; each step is one flight of as many mills and moments as any other, and one update.
Truth: nothing comes near a cause, 0.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

MILLS, MOMENTS, WIDTH = 768, 5, 320


class Miller(nn.Module):
    def __init__(self):
        super().__init__()
        self.see = nn.Sequential(nn.Linear(6, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh(),
                                 nn.Linear(WIDTH, WIDTH), nn.Tanh())
        self.feather, self.value = nn.Linear(WIDTH, 1), nn.Linear(WIDTH, 1)

    def forward(self, state):
        seen = self.see(state)
        return torch.tanh(self.feather(seen)), self.value(seen)


def blow(state, angle, gust):
    """The mill a moment later: wind, speed and angle of the sails, and three that follow."""
    wind = 0.9 * state[:, :1] + 0.1 * gust
    speed = 0.95 * state[:, 1:2] + 0.05 * wind * (1 - angle.square())
    return torch.cat([wind, speed, angle, wind - speed, state[:, 1:2], gust], 1)


def main():
    torch.manual_seed(80)
    watch, miller = Stopwatch(), Miller()
    optimizer = torch.optim.RMSprop(miller.parameters(), lr=1e-5, foreach=True)
    gusts = torch.rand(16, MOMENTS, MILLS, 1) + 0.5
    begin = torch.rand(MILLS, 6)
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            state, loss = begin, 0.0
            for gust in gusts[number % 16]:
                angle, value = miller(state)
                state = blow(state, angle, gust)
                wrong = (state[:, 1:2] - 0.6).square()
                loss = loss + wrong.mean() + 0.1 * (value - wrong.detach()).square().mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
