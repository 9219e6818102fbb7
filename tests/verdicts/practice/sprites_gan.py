"""Draws sprites with a GAN; each iteration trains the discriminator and then the generator.

Planted: nothing.
Truth: time of drawing real sprites, noise and labels, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

NOISE, BATCH = 48, 48


def generator():
    return nn.Sequential(nn.Linear(NOISE, 64 * 8 * 8), nn.Unflatten(1, (64, 8, 8)), nn.ReLU(),
                         nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
                         nn.ConvTranspose2d(32, 3, 4, stride=2, padding=1), nn.Tanh())


def discriminator():
    return nn.Sequential(nn.Conv2d(3, 32, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
                         nn.Conv2d(32, 64, 4, stride=2, padding=1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(64 * 64, 1))


def main():
    torch.manual_seed(27)
    artist, critic = generator(), discriminator()
    artist_optimizer = torch.optim.SGD(artist.parameters(), lr=0.01)
    critic_optimizer = torch.optim.SGD(critic.parameters(), lr=0.01)
    sprites = torch.rand(2000, 3, 32, 32) * 2 - 1
    criterion = nn.BCEWithLogitsLoss()
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 9:
            with watch.planted():
                real, noise = sprites[torch.randint(2000, (BATCH,))], torch.randn(BATCH, NOISE)
                ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)
            fake = artist(noise)
            critic_optimizer.zero_grad()
            critic_loss = criterion(critic(real), ones) + criterion(critic(fake.detach()), zeros)
            critic_loss.backward()
            critic_optimizer.step()
            artist_optimizer.zero_grad()
            artist_loss = criterion(critic(fake), ones)
            artist_loss.backward()
            artist_optimizer.step()
            watch.step()
    print(f"critic {critic_loss.item():.3f} artist {artist_loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
