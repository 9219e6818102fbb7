"""Imitates handwriting with a GAN whose generator learns in every second iteration.

Decoy of slow steps and of changes over time: iterations take turns at being short and long.
Truth: time of drawing strokes and noise, as a share of the loop. `short_ms`, `long_ms`: medians of the two kinds.
"""
import statistics

import torch
from torch import nn

from stopwatch import Stopwatch

NOISE, STROKES, BATCH = 64, 192, 256


def layers(*widths):
    made = []
    for before, after in zip(widths, widths[1:]):
        made += [nn.Linear(before, after), nn.LeakyReLU(0.2)]
    return nn.Sequential(*made[:-1])


def main():
    torch.manual_seed(36)
    artist, critic = layers(NOISE, 512, 768, STROKES), layers(STROKES, 768, 512, 1)
    artist_optimizer = torch.optim.SGD(artist.parameters(), lr=0.01)
    critic_optimizer = torch.optim.SGD(critic.parameters(), lr=0.01)
    handwriting = torch.randn(5000, STROKES).cumsum(1) * 0.05
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 9:
            with watch.planted():
                real, noise = handwriting[torch.randint(5000, (BATCH,))], torch.randn(BATCH, NOISE)
            fake = artist(noise)
            critic_loss = torch.relu(1 - critic(real)).mean() + torch.relu(1 + critic(fake.detach())).mean()
            critic_optimizer.zero_grad()
            critic_loss.backward()
            critic_optimizer.step()
            if len(watch.marks) % 2 == 1:
                artist_loss = -critic(fake).mean()
                artist_optimizer.zero_grad()
                artist_loss.backward()
                artist_optimizer.step()
            watch.step()
    times = watch.step_times()
    print(f"critic {critic_loss.item():.3f} artist {artist_loss.item():.3f}")
    watch.tell(short_ms=round(1e3 * statistics.median(times[::2]), 2), long_ms=round(1e3 * statistics.median(times[1::2]), 2))


if __name__ == "__main__":
    main()
