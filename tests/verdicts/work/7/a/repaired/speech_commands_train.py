"""Trains the wake-word classifier of the headset from synthetic command clips.

A clip is a short chirp pattern in noise; features are log-mel frames.  The set per
speaker group is small, so training makes many short epochs with validation after each.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

RATE = 8000
CLIP = 4000
N_FFT = 256
HOP = 128
N_MELS = 24
COMMANDS = ["start", "stop", "louder", "quieter", "next", "back"]


def mel_filterbank():
    def to_mel(f):
        return 2595 * math.log10(1 + f / 700)

    edges = torch.linspace(to_mel(60), to_mel(RATE / 2), N_MELS + 2)
    freqs = 700 * (10 ** (edges / 2595) - 1)
    bins = torch.linspace(0, RATE / 2, N_FFT // 2 + 1)
    up = (bins - freqs[:-2, None]) / (freqs[1:-1, None] - freqs[:-2, None])
    down = (freqs[2:, None] - bins) / (freqs[2:, None] - freqs[1:-1, None])
    return torch.minimum(up, down).clamp(min=0)


class CommandClips(Dataset):
    """Waveforms are held in memory; features are made on access, with a random gain
    and shift for the training set."""

    def __init__(self, n, seed, augment):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(len(COMMANDS), (n,), generator=g)
        t = torch.arange(CLIP) / RATE
        base = 300 + 250 * self.labels[:, None] + 40 * torch.randn(n, 1, generator=g)
        sweep = torch.where(self.labels % 2 == 0, 900.0, -200.0)[:, None]
        self.waves = torch.sin(2 * math.pi * (base * t + 0.5 * sweep * t * t))
        self.waves += 0.8 * torch.randn(n, CLIP, generator=g)
        self.augment = augment
        self.window = torch.hann_window(N_FFT)
        self.mel = mel_filterbank()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        wave = self.waves[index]
        if self.augment:
            # reproducible per clip: the position in the set selects gain and shift
            wave = torch.roll(wave, index * 37 % 400) * (0.7 + 0.6 * (index * 29 % 64) / 64)
        spec = torch.stft(wave, N_FFT, HOP, window=self.window, return_complex=True).abs().square()
        return torch.log(self.mel @ spec + 1e-4), self.labels[index]


class CommandNet(nn.Module):
    def __init__(self, channels=24):
        super().__init__()
        self.norm = nn.BatchNorm1d(N_MELS)
        self.conv1 = nn.Conv1d(N_MELS, channels, 5, padding=2)
        self.conv2 = nn.Conv1d(channels, channels, 3, padding=1)
        self.rnn = nn.GRU(channels, 32, batch_first=True)
        self.head = nn.Linear(32, len(COMMANDS))

    def forward(self, x):
        h = F.relu(self.conv1(self.norm(x)))
        h = F.max_pool1d(F.relu(self.conv2(h)), 2)
        out, _ = self.rnn(h.transpose(1, 2))
        return self.head(out.mean(1))


def make_loader(dataset, batch_size, shuffle, seed):
    return DataLoader(
        dataset,
        batch_size=batch_size,
        shuffle=shuffle,
        num_workers=2,
        persistent_workers=True,
        generator=torch.Generator().manual_seed(seed),
    )


def train_epoch(model, loader, optimizer):
    model.train()
    total = torch.zeros(())
    for features, labels in loader:
        loss = F.cross_entropy(model(features), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total.item() / len(loader)


@torch.inference_mode()
def accuracy(model, loader):
    model.eval()
    correct = sum((model(x).argmax(1) == y).sum() for x, y in loader)
    return int(correct) / len(loader.dataset)


def main():
    torch.manual_seed(0)
    train_loader = make_loader(CommandClips(96, seed=1, augment=True), 32, shuffle=False, seed=2)
    valid_loader = make_loader(CommandClips(64, seed=3, augment=False), 64, shuffle=False, seed=4)
    model = CommandNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=30)
    best, loss = 0.0, math.nan
    for epoch in range(30):
        loss = train_epoch(model, train_loader, optimizer)
        schedule.step()
        best = max(best, accuracy(model, valid_loader))
    print(f"epochs 30  last loss {loss:.3f}  best validation accuracy {best:.3f}")


if __name__ == "__main__":
    main()
