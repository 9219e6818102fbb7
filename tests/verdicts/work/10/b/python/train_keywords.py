"""Keyword spotting on synthetic speech-like sounds: log-mel front end in the data
loader, depthwise-separable convolution model, Adam with cosine decay."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

RATE = 16000
FFT, HOP, MELS = 512, 160, 40
WORDS = 6
EPOCHS = 4


def hz_to_mel(f: float) -> float:
    return 2595.0 * math.log10(1.0 + f / 700.0)


def mel_to_hz(m: float) -> float:
    return 700.0 * (10.0 ** (m / 2595.0) - 1.0)


def mel_filterbank(n_mels: int, n_fft: int, rate: int) -> torch.Tensor:
    """Triangular filters, area normalised: (n_mels, n_fft // 2 + 1)."""
    top = hz_to_mel(rate / 2)
    edges = [mel_to_hz(top * i / (n_mels + 1)) for i in range(n_mels + 2)]
    bank = torch.zeros(n_mels, n_fft // 2 + 1)
    for m in range(n_mels):
        low, centre, high = edges[m:m + 3]
        for k in range(n_fft // 2 + 1):
            f = k * rate / n_fft
            if low < f < high:
                rise, fall = (f - low) / (centre - low), (high - f) / (high - centre)
                bank[m, k] = 2.0 * min(rise, fall) / (high - low)
    return bank


class LogMel:
    def __init__(self, rate: int = RATE, n_fft: int = FFT, hop: int = HOP, n_mels: int = MELS):
        self.rate, self.n_fft, self.hop, self.n_mels = rate, n_fft, hop, n_mels

    def __call__(self, wave: torch.Tensor) -> torch.Tensor:
        window = torch.hann_window(self.n_fft)
        spec = torch.stft(wave, self.n_fft, self.hop, window=window, return_complex=True)
        power = spec.real.square() + spec.imag.square()
        bank = mel_filterbank(self.n_mels, self.n_fft, self.rate)
        return (bank @ power + 1e-6).log()


class SpokenWords(Dataset):
    """Each word is a sequence of three two-formant segments in noise."""

    def __init__(self, count: int, seed: int):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, WORDS, (count,), generator=g)
        self.seeds = torch.randint(0, 2 ** 31, (count,), generator=g)
        self.front_end = LogMel()
        table = torch.Generator().manual_seed(77)
        self.formants = 300 + 2700 * torch.rand(WORDS, 3, 2, generator=table)

    def __len__(self) -> int:
        return len(self.labels)

    def synthesize(self, i: int) -> torch.Tensor:
        g = torch.Generator().manual_seed(int(self.seeds[i]))
        n = RATE // 2
        pitch = 0.9 + 0.2 * torch.rand((), generator=g)
        segment = torch.arange(n) * 3 // n
        freq = self.formants[self.labels[i]][segment] * pitch
        phase = 2 * math.pi * freq.cumsum(0) / RATE
        voice = phase.sin().sum(1) * (0.4 + 0.6 * torch.rand((), generator=g))
        return voice + 1.2 * torch.randn(n, generator=g)

    def __getitem__(self, i: int):
        return self.front_end(self.synthesize(i)), self.labels[i]


class SeparableBlock(nn.Module):
    def __init__(self, cin: int, cout: int, stride: int):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(cin, cin, 9, stride, 4, groups=cin, bias=False), nn.Conv1d(cin, cout, 1, bias=False),
            nn.BatchNorm1d(cout), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


def build_model() -> nn.Module:
    return nn.Sequential(
        nn.BatchNorm1d(MELS), SeparableBlock(MELS, 64, 1), SeparableBlock(64, 96, 2),
        SeparableBlock(96, 96, 1), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(96, WORDS))


@torch.inference_mode()
def evaluate(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    correct = sum(int((model(x).argmax(1) == y).sum()) for x, y in loader)
    model.train()
    return correct / len(loader.dataset)


def main() -> None:
    torch.manual_seed(0)
    train = DataLoader(SpokenWords(240, seed=1), batch_size=24, shuffle=True, num_workers=1,
                       persistent_workers=True)
    held = DataLoader(SpokenWords(96, seed=2), batch_size=48, num_workers=1)
    model = build_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * len(train))
    for epoch in range(EPOCHS):
        total = 0.0
        for features, labels in train:
            loss = nn.functional.cross_entropy(model(features), labels)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(train):.3f}")
    print(f"held-out accuracy {evaluate(model, held):.3f}")


if __name__ == "__main__":
    main()
