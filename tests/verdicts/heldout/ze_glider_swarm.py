"""Teaches gliders to stay in rising air: the flight can be differentiated, so the policy learns through it.

Clean: nothing is planted; the policy, the flight and their gradients take what they need, for a thousand gliders at once.
Truth: time of setting out the gliders, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

GLIDERS, SENSES, WIDTH, TURNS = 1024, 8, 160, 6


class Pilot(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(SENSES, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh())
        self.bank = nn.Linear(WIDTH, 2)

    def forward(self, senses):
        return self.bank(self.layers(senses))


class Sky(nn.Module):
    """Where air rises: a field of bumps."""

    def __init__(self):
        super().__init__()
        self.register_buffer("turn", torch.randn(2, SENSES) * 0.3)
        self.register_buffer("drift", torch.eye(SENSES) * 0.95 + torch.randn(SENSES, SENSES) * 0.02)

    def forward(self, state, bank):
        return state @ self.drift + torch.tanh(bank) @ self.turn


def main():
    torch.manual_seed(15)
    pilot, sky, watch = Pilot(), Sky(), Stopwatch()
    optimizer = torch.optim.Adam(pilot.parameters(), lr=1e-3, fused=True)
    with watch.loop():
        while watch.seconds() < 6.5:
            with watch.planted():
                state = torch.randn(GLIDERS, SENSES)
            height = 0.0
            for _ in range(TURNS):
                state = sky(state, pilot(state))
                height = height + torch.exp(-state.square().mean(1)).mean()
            loss = -height / TURNS
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"height {-loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
