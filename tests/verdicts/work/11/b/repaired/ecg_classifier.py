"""Classifies single-lead ECG strips into rhythm classes. Strips are
kept in compressed files; a loader decodes them and cuts windows."""
import math
import os
import tempfile
import zlib

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler

RATE = 125
SECONDS = 8
STRIPS = 400
EPOCHS = 5
CLASSES = ("sinus", "tachycardia", "bradycardia", "fibrillation")


def beat(length):
    """One P-QRS-T complex as a sum of Gaussians over the unit interval."""
    t = torch.linspace(0, 1, length)
    waves = [(0.18, 0.03, 0.15), (0.30, 0.008, -0.12), (0.33, 0.012, 1.0), (0.36, 0.010, -0.25), (0.60, 0.05, 0.3)]
    out = torch.zeros(length)
    for centre, width, height in waves:
        out += height * torch.exp(-0.5 * ((t - centre) / width) ** 2)
    return out


def strip(label, generator):
    total = RATE * (SECONDS + 2)
    rate = {0: 75, 1: 130, 2: 45, 3: 100}[label]
    signal = torch.zeros(total)
    at = 0
    while at < total:
        spread = 0.28 if label == 3 else 0.04
        jitter = 1 + spread * torch.randn((), generator=generator).item()
        length = max(30, int(RATE * 60 / rate * jitter))
        piece = beat(length)[: total - at]
        signal[at : at + len(piece)] += piece
        at += length
    if label == 3:
        t = torch.arange(total) / RATE
        signal += 0.06 * torch.sin(2 * math.pi * 6.5 * t)
    return signal


def record(folder, count, seed):
    """Stores strips the way the recorder does: 16-bit steps, deflated."""
    generator = torch.Generator().manual_seed(seed)
    os.makedirs(folder)
    for i in range(count):
        signal = strip(i % len(CLASSES), generator)
        t = torch.arange(len(signal)) / RATE
        phase = torch.rand(1, generator=generator) * 2 * math.pi
        signal += 0.4 * torch.sin(2 * math.pi * 0.25 * t + phase)
        signal += 0.04 * torch.randn(len(signal), generator=generator)
        steps = torch.diff((signal * 1000).round(), prepend=torch.zeros(1)).to(torch.int16)
        with open(os.path.join(folder, f"{i:05d}.ecg"), "wb") as f:
            f.write(zlib.compress(steps.numpy().tobytes(), 6))


class EcgStrips(Dataset):
    """Strips are decoded and freed of baseline wander when first asked for."""

    def __init__(self, folder, augment):
        self.paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        self.decoded = {}
        self.augment = augment

    def __len__(self):
        return len(self.paths)

    def decode(self, index):
        with open(self.paths[index], "rb") as f:
            steps = torch.frombuffer(bytearray(zlib.decompress(f.read())), dtype=torch.int16)
        signal = steps.float().cumsum(0) / 1000
        half = RATE // 2
        padded = nn.functional.pad(signal.view(1, 1, -1), (half, half), mode="replicate").flatten()
        return signal - padded.unfold(0, 2 * half + 1, 1).median(dim=1).values

    def signal(self, index):
        if index not in self.decoded:
            self.decoded[index] = self.decode(index)
        return self.decoded[index]

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        signal = self.signal(index)
        start = int(torch.randint(0, 2 * RATE, (1,), generator=generator)) if self.augment else RATE
        window = signal[start : start + RATE * SECONDS]
        window = (window - window.mean()) / (window.std() + 1e-6)
        return window.unsqueeze(0), index % len(CLASSES)


class Block(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(inside, outside, 7, stride=stride, padding=3),
            nn.BatchNorm1d(outside),
            nn.ReLU(),
            nn.Conv1d(outside, outside, 5, padding=2),
            nn.BatchNorm1d(outside),
        )
        self.skip = nn.Conv1d(inside, outside, 1, stride=stride)

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


class RhythmNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(Block(1, 8, 4), Block(8, 16, 2), Block(16, 24, 2), Block(24, 32, 2))
        self.head = nn.Linear(32, len(CLASSES))

    def forward(self, x):
        return self.head(self.features(x).mean(dim=2))


def make_loader(dataset):
    order = RandomSampler(dataset, generator=torch.Generator().manual_seed(3))
    return DataLoader(dataset, batch_size=32, sampler=order, num_workers=1, prefetch_factor=4, persistent_workers=True)


def train_epoch(model, loader, optimizer):
    total = 0.0
    for signals, labels in loader:
        loss = nn.functional.cross_entropy(model(signals), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
    return total / len(loader.dataset)


@torch.no_grad()
def accuracy(model, dataset):
    model.eval()
    pairs = [dataset[i] for i in range(len(dataset))]
    scores = model(torch.stack([signal for signal, _ in pairs]))
    model.train()
    return (scores.argmax(dim=1) == torch.tensor([label for _, label in pairs])).float().mean().item()


def main():
    torch.manual_seed(8)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        learn(folder)


def learn(folder):
    record(os.path.join(folder, "training"), STRIPS, seed=1)
    record(os.path.join(folder, "held-out"), 60, seed=2)
    training = EcgStrips(os.path.join(folder, "training"), augment=True)
    held_out = EcgStrips(os.path.join(folder, "held-out"), augment=False)
    model = RhythmNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    loader = make_loader(training)
    losses = [train_epoch(model, loader, optimizer) for _ in range(EPOCHS)]
    print(f"strips {len(training)}, parameters {sum(p.numel() for p in model.parameters())}")
    print("losses " + " ".join(f"{loss:.4f}" for loss in losses))
    print(f"accuracy {accuracy(model, held_out):.3f}")


if __name__ == "__main__":
    main()
