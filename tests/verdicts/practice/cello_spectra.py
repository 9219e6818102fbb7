"""A variational autoencoder for spectra of a cello, with the usual loop.

Clean: it plants nothing.
Truth: time of taking the batch, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

BINS, LATENT = 512, 24


def block(inputs, outputs):
    return nn.Sequential(nn.Conv1d(inputs, outputs, 5, stride=2, padding=2), nn.GroupNorm(4, outputs), nn.SiLU())


def unblock(inputs, outputs):
    return nn.Sequential(nn.ConvTranspose1d(inputs, outputs, 6, stride=2, padding=2), nn.GroupNorm(4, outputs), nn.SiLU())


class Cello(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(block(1, 32), block(32, 48), block(48, 64), nn.Flatten(), nn.Linear(64 * BINS // 8, 2 * LATENT))
        self.decoder = nn.Sequential(nn.Linear(LATENT, 64 * BINS // 8), nn.Unflatten(1, (64, BINS // 8)), unblock(64, 48), unblock(48, 32),
                                     nn.ConvTranspose1d(32, 1, 6, stride=2, padding=2))

    def forward(self, spectrum):
        mean, spread = self.encoder(spectrum).chunk(2, 1)
        latent = mean + torch.randn_like(mean) * (spread / 2).exp()
        divergence = 0.5 * (mean.square() + spread.exp() - 1 - spread).sum(1).mean()
        return self.decoder(latent), divergence


def tones(count):
    """Harmonics of random pitches, with a formant."""
    bins = torch.arange(BINS)
    pitch = 8 + 24 * torch.rand(count, 1, 1)
    formant = torch.exp(-((bins - 90) / 120.0) ** 2)
    return (torch.cos(6.283 * bins / pitch).clamp_min(0) ** 8 * formant + 0.02 * torch.rand(count, 1, BINS)).float()


def main():
    torch.manual_seed(14)
    watch = Stopwatch()
    spectra = tones(4000)
    model = Cello()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 400)
    loss = torch.zeros(())
    with watch.loop():
        while watch.seconds() < 6.5:
            with watch.planted():
                batch = spectra[torch.randint(0, len(spectra), (64,))]
            again, divergence = model(batch)
            loss = nn.functional.mse_loss(again, batch) * BINS + 0.1 * divergence
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            watch.step()
    print(f"loss {loss.item():.2f}")
    watch.tell()


if __name__ == "__main__":
    main()
