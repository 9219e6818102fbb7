"""Keyword spotting on short clips: log-mel features with random gain, shift
and noise, and a small convolutional classifier."""
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

RATE = 16000
CLIP = 8000
FFT, HOP = 512, 160
MELS = 40
WORDS = 8
TRAIN, VALID = 900, 200
EPOCHS = 3


def hz_to_mel(f):
    return 2595.0 * math.log10(1.0 + f / 700.0)


def mel_to_hz(m):
    return 700.0 * (10.0 ** (m / 2595.0) - 1.0)


def mel_filters(low=40.0, high=7600.0):
    """Triangular filters on the mel scale, as (MELS, FFT // 2 + 1)."""
    lo, hi = hz_to_mel(low), hz_to_mel(high)
    edges = [mel_to_hz(lo + (hi - lo) * i / (MELS + 1)) for i in range(MELS + 2)]
    bins = torch.linspace(0, RATE / 2, FFT // 2 + 1)
    rows = []
    for left, mid, right in zip(edges, edges[1:], edges[2:]):
        up = (bins - left) / (mid - left)
        down = (right - bins) / (right - mid)
        rows.append(torch.minimum(up, down).clamp(min=0) * (2.0 / (right - left)))
    return torch.stack(rows)


FILTERS = mel_filters()
WINDOW = torch.hann_window(FFT)


def log_mel(wave):
    spec = torch.stft(wave, FFT, HOP, window=WINDOW, return_complex=True)
    mel = FILTERS @ spec.abs().square()
    return (mel + 1e-6).log()


def synthesize(word, g):
    """A two-formant glide per word with random pitch and timing."""
    t = torch.arange(CLIP) / RATE
    pitch = 110 + 90 * torch.rand((), generator=g)
    start = 0.05 + 0.1 * torch.rand((), generator=g)
    length = 0.25 + 0.08 * torch.rand((), generator=g)
    pos = ((t - start) / length).clamp(0, 1)
    wave = torch.zeros(CLIP)
    for k, (a, b) in enumerate(((300 + 90 * word, 900 - 60 * word), (1400, 1200 + 220 * word))):
        freq = a + (b - a) * pos
        phase = torch.cumsum(freq, 0) * (2 * math.pi / RATE)
        wave += torch.sin(phase) * (1 + torch.sin(2 * math.pi * pitch * t)) / (k + 2)
    return wave * torch.sin(math.pi * pos)


class Clips(Dataset):
    def __init__(self, count, seed, training):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, WORDS, (count,), generator=g)
        self.waves = torch.stack([synthesize(int(w), g) for w in self.labels])
        self.training = training
        self.g = torch.Generator().manual_seed(seed + 1)

    def __len__(self):
        return len(self.labels)

    def augment(self, wave):
        gain = 0.4 + torch.rand((), generator=self.g)
        shift = int(torch.randint(-800, 801, (), generator=self.g))
        noise = 0.15 * torch.randn(CLIP, generator=self.g)
        return torch.roll(wave, shift) * gain + noise

    def __getitem__(self, i):
        wave = self.waves[i]
        if self.training:
            wave = self.augment(wave)
        return log_mel(wave), self.labels[i]


class Spotter(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.norm = nn.BatchNorm1d(MELS)
        self.layers = nn.Sequential(
            nn.Conv1d(MELS, 2 * width, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(2 * width, 2 * width, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(2 * width, 3 * width, 3, padding=1), nn.ReLU(),
        )
        self.head = nn.Linear(3 * width, WORDS)

    def forward(self, x):
        return self.head(self.layers(self.norm(x)).amax(2))


@torch.inference_mode()
def accuracy(model, loader):
    model.eval()
    right = total = 0
    for x, y in loader:
        right += int((model(x).argmax(1) == y).sum())
        total += len(y)
    model.train()
    return right / total


def main():
    torch.manual_seed(12)
    train_set, valid_set = Clips(TRAIN, 100, True), Clips(VALID, 200, False)
    loader = DataLoader(
        train_set, batch_size=32, shuffle=True, generator=torch.Generator().manual_seed(4)
    )
    valid = DataLoader(valid_set, batch_size=64)
    model = Spotter()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    for epoch in range(EPOCHS):
        total = torch.zeros(())
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        print(
            f"epoch {epoch} loss {total.item() / len(loader):.3f} "
            f"accuracy {accuracy(model, valid):.3f}"
        )


if __name__ == "__main__":
    main()
