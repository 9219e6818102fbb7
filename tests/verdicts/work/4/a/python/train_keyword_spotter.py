"""Trains a small keyword spotter on log-mel features of one-second clips."""
import math

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

RATE = 8000
N_FFT = 1024
WINDOW = 400
HOP = 100
N_MELS = 64
CLASSES = 10


def hz_to_mel(f):
    return 2595.0 * math.log10(1.0 + f / 700.0)


def mel_to_hz(m):
    return 700.0 * (10.0 ** (m / 2595.0) - 1.0)


def mel_filters(n_mels, n_fft, rate):
    """Triangular filters, (n_mels, n_fft // 2 + 1)."""
    top = hz_to_mel(rate / 2)
    edges = [mel_to_hz(top * i / (n_mels + 1)) for i in range(n_mels + 2)]
    bank = torch.zeros(n_mels, n_fft // 2 + 1)
    for m in range(n_mels):
        left, centre, right = edges[m:m + 3]
        for k in range(math.ceil(left * n_fft / rate), math.floor(right * n_fft / rate) + 1):
            f = k * rate / n_fft
            side = (f - left) / (centre - left) if f <= centre else (right - f) / (right - centre)
            bank[m, k] = max(side, 0.0)
    return bank


class LogMel:
    def __init__(self, rate=RATE, n_fft=N_FFT, hop=HOP, n_mels=N_MELS):
        self.rate, self.n_fft, self.hop, self.n_mels = rate, n_fft, hop, n_mels

    def __call__(self, wave):
        window = torch.hann_window(WINDOW)
        spec = torch.stft(wave, self.n_fft, self.hop, WINDOW, window, return_complex=True)
        power = spec.abs().square()
        bank = mel_filters(self.n_mels, self.n_fft, self.rate)
        mel = torch.log(bank @ power + 1e-5)
        return (mel - mel.mean()) / (mel.std() + 1e-5)


class Clips(Dataset):
    """Synthetic utterances: each word is a pattern of two gliding formants."""

    def __init__(self, n, seed, transform):
        self.n, self.seed, self.transform = n, seed, transform
        g = torch.Generator().manual_seed(1)
        self.formants = 300 + 2500 * torch.rand(CLASSES, 2, 2, generator=g)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed * 1_000_003 + i)
        label = i % CLASSES
        t = torch.linspace(0, 1, RATE)
        wave = torch.zeros(RATE)
        for start, end in self.formants[label].tolist():
            detune = 1 + 0.15 * (torch.rand(1, generator=g).item() - 0.5)
            freq = detune * (start + (end - start) * t)
            wave += torch.sin(2 * math.pi * torch.cumsum(freq, 0) / RATE)
        shift = int(torch.randint(0, RATE // 4, (1,), generator=g))
        wave = torch.roll(wave, shift) + 0.8 * torch.randn(RATE, generator=g)
        return self.transform(wave).unsqueeze(0), label


class Spotter(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 5, stride=2, padding=2, bias=False)
        self.bn = nn.BatchNorm2d(width, momentum=0.3)
        self.body = nn.Sequential(self.block(width, 20), self.block(20, 32))
        self.head = nn.Linear(32, CLASSES)

    @staticmethod
    def block(cin, cout):
        return nn.Sequential(
            nn.Conv2d(cin, cin, 3, padding=1, groups=cin, bias=False),
            nn.Conv2d(cin, cout, 1, bias=False),
            nn.BatchNorm2d(cout, momentum=0.3),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )

    def forward(self, x):
        x = F.relu(self.bn(self.stem(x)))
        return self.head(self.body(x).mean((2, 3)))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    right = total = 0
    for x, y in loader:
        right += (model(x).argmax(1) == y).sum().item()
        total += len(y)
    return right / total


def main():
    torch.manual_seed(0)
    transform = LogMel()
    train = DataLoader(Clips(320, 1, transform), batch_size=16, shuffle=True)
    test = DataLoader(Clips(40, 2, transform), batch_size=40)
    model = Spotter()
    epochs = 3
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=1e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 2e-2, total_steps=epochs * len(train))
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in train:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item() * len(y)
        print(f"epoch {epoch}: loss {total / len(train.dataset):.2f}")
    print(f"test accuracy {evaluate(model, test):.2f}")


if __name__ == "__main__":
    main()
