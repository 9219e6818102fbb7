"""Trains a detector of worn bearings on windows of vibration data.

The plant's recordings are long; the data set cuts windows out of them and scales each."""
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, RandomSampler

MACHINES = 16
SAMPLES = 16_000
WINDOW = 512
STRIDE = 600
BATCH = 64
EPOCHS = 40
WORKERS = 2


def record(rng, worn):
    """Shaft vibration and noise; a worn bearing adds a train of short ringing knocks."""
    t = np.arange(SAMPLES)
    speed = rng.uniform(0.020, 0.030)
    signal = np.sin(2 * np.pi * speed * t + rng.uniform(0, 6)) + 0.3 * np.sin(2 * np.pi * 3.1 * speed * t)
    signal += rng.normal(0, 0.5, SAMPLES)
    if worn:
        period = int(rng.integers(90, 130))
        ring = np.exp(-np.arange(60) / 9.0) * np.sin(np.arange(60) * 1.3)
        for at in range(int(rng.integers(0, period)), SAMPLES - 60, period):
            signal[at : at + 60] += rng.uniform(1.5, 3.0) * ring
    return signal.astype(np.float32)


class Windows(Dataset):
    def __init__(self, machines, seed):
        rng = np.random.default_rng(seed)
        self.recordings = [record(rng, machine % 2 == 1) for machine in range(machines)]
        self.taper = np.hanning(WINDOW).astype(np.float32)
        per_recording = (SAMPLES - WINDOW) // STRIDE + 1
        self.places = [(m, k * STRIDE) for m in range(machines) for k in range(per_recording)]

    def __len__(self):
        return len(self.places)

    def __getitem__(self, number):
        machine, begin = self.places[number]
        window = self.recordings[machine][begin : begin + WINDOW]
        window = (window - window.mean()) / (window.std() + 1e-6)
        power = np.log1p(np.abs(np.fft.rfft(window * self.taper))[1:])
        return torch.from_numpy(window.copy()), torch.from_numpy(power.astype(np.float32)), machine % 2


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.wave = nn.Sequential(
            nn.Conv1d(1, 12, 16, stride=4),
            nn.ReLU(),
            nn.Conv1d(12, 24, 8, stride=4),
            nn.ReLU(),
            nn.AdaptiveMaxPool1d(1),
            nn.Flatten(),
        )
        self.power = nn.Sequential(nn.Linear(WINDOW // 2, 32), nn.ReLU())
        self.head = nn.Linear(24 + 32, 2)

    def forward(self, window, power):
        return self.head(torch.cat([self.wave(window[:, None]), self.power(power)], dim=1))


def loader(data, shuffle_seed=None):
    sampler = None
    if shuffle_seed is not None:
        sampler = RandomSampler(data, generator=torch.Generator().manual_seed(shuffle_seed))
    return DataLoader(
        data,
        batch_size=BATCH,
        sampler=sampler,
        num_workers=WORKERS,
        persistent_workers=True,
    )


def train_epoch(model, optimizer, batches):
    model.train()
    total = 0.0
    for window, power, worn in batches:
        loss = F.cross_entropy(model(window, power), worn)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(worn)
    return total / len(batches.dataset)


def accuracy(model, batches):
    model.eval()
    right = 0
    with torch.no_grad():
        for window, power, worn in batches:
            right += (model(window, power).argmax(dim=1) == worn).sum().item()
    return right / len(batches.dataset)


def main():
    torch.manual_seed(8)
    torch.set_num_threads(1)
    training = loader(Windows(MACHINES, seed=1), shuffle_seed=4)
    held_out = loader(Windows(MACHINES // 3, seed=2))
    model = Detector()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    best = 0.0
    for _ in range(EPOCHS):
        loss = train_epoch(model, optimizer, training)
        best = max(best, accuracy(model, held_out))
    print(f"windows {len(training.dataset)}, epochs {EPOCHS}, last loss {loss:.4f}")
    print(f"best accuracy on other machines {best:.4f}")


if __name__ == "__main__":
    main()
