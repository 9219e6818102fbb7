"""Invents patterns for woven textiles with a generator and a critic.

Planted: nothing, convolutions dominate. Truth: time of drawing the real patterns and the noise, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

NOISE, BATCH, CHANNELS = 64, 12, 48


class Weaver(nn.Module):
    """From noise to a pattern of 32 x 32 threads in three colours."""

    def __init__(self):
        super().__init__()
        self.begin = nn.Linear(NOISE, CHANNELS * 8 * 8)
        self.grow = nn.Sequential(
            nn.ReLU(), nn.Upsample(scale_factor=2), nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1),
            nn.ReLU(), nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1),
            nn.ReLU(), nn.Upsample(scale_factor=2), nn.Conv2d(CHANNELS, 32, 3, padding=1),
            nn.ReLU(), nn.Conv2d(32, 3, 3, padding=1), nn.Tanh())

    def forward(self, noise):
        return self.grow(self.begin(noise).view(-1, CHANNELS, 8, 8))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(32, CHANNELS, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(CHANNELS, 64, 4, stride=2, padding=1), nn.LeakyReLU(0.2))
        self.judge = nn.Linear(64 * 8 * 8, 1)

    def forward(self, patterns):
        return self.judge(self.look(patterns).flatten(1))


def textiles(count=256):
    """Stripes and checks."""
    thread = torch.arange(32.0)
    period = torch.rand(count, 3, 1, 1) * 6 + 2
    warp = torch.sin(thread[None, None, :, None] * 6.28 / period)
    weft = torch.sin(thread[None, None, None, :] * 6.28 / period.flip(1))
    return (warp + weft) / 2


def main():
    torch.manual_seed(29)
    watch = Stopwatch()
    weaver, critic, real = Weaver(), Critic(), textiles()
    weaver_optimizer = torch.optim.Adam(weaver.parameters(), lr=2e-4, betas=(0.5, 0.999))
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
    judge = nn.BCEWithLogitsLoss()
    yes, no = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                woven = real[torch.randint(0, len(real), (BATCH,))]
                noise = torch.randn(BATCH, NOISE)
            invented = weaver(noise)

            critic_loss = judge(critic(woven), yes) + judge(critic(invented.detach()), no)
            critic_optimizer.zero_grad()
            critic_loss.backward()
            critic_optimizer.step()

            weaver_loss = judge(critic(invented), yes)
            weaver_optimizer.zero_grad()
            weaver_loss.backward()
            weaver_optimizer.step()
            watch.step()
    print(f"critic {critic_loss.item():.3f}, weaver {weaver_loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
