"""Trains a small convolutional network that cleans the voice of a radio link.

Clips are made of gliding harmonics with a syllable-like envelope; hiss and mains hum are
added, and the network learns to subtract them again."""
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

RATE = 8000
CLIP = 1024
CLIPS = 128
BATCH = 16
EPOCHS = 2
CHANNELS = 32


def voice(rng):
    t = np.arange(CLIP) / RATE
    pitch = rng.uniform(90, 220) * (1 + 0.1 * np.sin(2 * np.pi * rng.uniform(1, 4) * t))
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    sound = np.zeros(CLIP)
    for harmonic in range(1, 9):
        sound += rng.uniform(0.3, 1.0) / harmonic * np.sin(harmonic * phase)
    envelope = np.clip(np.sin(2 * np.pi * rng.uniform(2, 5) * t + rng.uniform(0, 6)) + 0.4, 0, None)
    return sound * envelope / 2.5


def disturbance(rng):
    t = np.arange(CLIP) / RATE
    hiss = rng.normal(0, rng.uniform(0.05, 0.25), CLIP)
    hum = rng.uniform(0.0, 0.3) * np.sin(2 * np.pi * 50 * t + rng.uniform(0, 6))
    return hiss + hum


def make_clips(count, seed):
    """Noisy and clean clips, two arrays of shape (count, 1, CLIP)."""
    rng = np.random.default_rng(seed)
    clean = np.stack([voice(rng) for _ in range(count)])
    noisy = clean + np.stack([disturbance(rng) for _ in range(count)])
    peak = np.abs(noisy).max(axis=1, keepdims=True)
    return (noisy / peak)[:, None], (clean / peak)[:, None]


class GatedBlock(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.filter = nn.Conv1d(channels, channels, 5, padding=2 * dilation, dilation=dilation)
        self.gate = nn.Conv1d(channels, channels, 5, padding=2 * dilation, dilation=dilation)
        self.mix = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        return x + self.mix(torch.tanh(self.filter(x)) * torch.sigmoid(self.gate(x)))


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, CHANNELS, 9, padding=4)
        self.blocks = nn.Sequential(*[GatedBlock(CHANNELS, 2**n) for n in range(5)])
        self.last = nn.Conv1d(CHANNELS, 1, 9, padding=4)

    def forward(self, noisy):
        return noisy - self.last(F.relu(self.blocks(self.first(noisy))))


def ratio_db(clean, estimate):
    """Signal to distortion."""
    signal = clean.pow(2).sum(dim=(1, 2))
    error = (clean - estimate).pow(2).sum(dim=(1, 2))
    return (10 * torch.log10(signal / (error + 1e-9))).mean().item()


def train(model, noisy, clean):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    shuffler = torch.Generator().manual_seed(6)
    for _ in range(EPOCHS):
        total = 0.0
        for rows in torch.randperm(len(noisy), generator=shuffler).split(BATCH):
            estimate = model(noisy[rows])
            loss = F.l1_loss(estimate, clean[rows])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item() * len(rows)
    return total / len(noisy)


def main():
    torch.manual_seed(21)
    torch.set_num_threads(1)
    noisy, clean = (torch.from_numpy(part) for part in make_clips(CLIPS, seed=40))
    test_noisy, test_clean = (torch.from_numpy(part) for part in make_clips(32, seed=41))
    model = Denoiser().to(noisy.dtype)
    loss = train(model, noisy, clean)
    with torch.no_grad():
        after = ratio_db(test_clean, model(test_noisy))
    print(f"clips {CLIPS}, epochs {EPOCHS}, last loss {loss:.3f}")
    print(f"signal to distortion {ratio_db(test_clean, test_noisy):.1f} dB before, {after:.1f} dB after")


if __name__ == "__main__":
    main()
