"""Train a rhythm classifier on windows cut from long ECG recordings.

Recordings are kept one file per patient, in raw ADC counts; the data set cuts
standardised windows from them.
"""
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

RATE = 125
MINUTES = 8
WINDOW = 4 * RATE
PATIENTS = 16
WINDOWS_PER_PATIENT = 40
EPOCHS = 2


def synthesise(rng, atrial_fibrillation):
    """A two-lead recording as int16 ADC counts with wander and mains hum."""
    n = MINUTES * 60 * RATE
    spread = 0.22 if atrial_fibrillation else 0.03
    beats = np.cumsum(np.clip(rng.normal(0.8, spread, size=MINUTES * 90), 0.35, 1.6))
    beats = beats[beats < MINUTES * 60 - 1]
    signal = np.zeros(n)
    t = np.arange(-0.3, 0.45, 1 / RATE)
    shape = 1.1 * np.exp(-(t / 0.012) ** 2) + 0.25 * np.exp(-((t - 0.22) / 0.05) ** 2)
    if not atrial_fibrillation:
        shape = shape + 0.12 * np.exp(-((t + 0.16) / 0.025) ** 2)
    starts = (beats * RATE).astype(int) - int(0.3 * RATE)
    for s in starts:
        if s >= 0 and s + len(t) <= n:
            signal[s:s + len(t)] += shape
    time = np.arange(n) / RATE
    wander = 0.5 * np.sin(2 * np.pi * 0.23 * time + rng.uniform(0, 6))
    hum = 0.05 * np.sin(2 * np.pi * 50 * time)
    leads = np.stack([signal + wander + hum, 0.7 * signal - wander + hum])
    leads += rng.normal(0, 0.04, leads.shape)
    return np.round(leads * 400).astype(np.int16)


def write_study(root, rng):
    for p in range(PATIENTS):
        label = p % 2
        np.save(root / f"patient{p:02d}_{label}.npy", synthesise(rng, bool(label)))
    return sorted(root.glob("*.npy"))


def standardise(counts):
    """Millivolts, baseline removed by a one-second moving mean, unit variance."""
    mv = counts.astype(np.float64) / 400.0
    padded = np.pad(mv, ((0, 0), (RATE // 2, RATE - RATE // 2)), mode="edge")
    total = np.cumsum(padded, axis=1)
    mv = mv - (total[:, RATE:] - total[:, :-RATE]) / RATE
    return (mv / mv.std(axis=1, keepdims=True)).astype(np.float32)


class WindowDataset(Dataset):
    def __init__(self, files, seed):
        self.recordings = [standardise(np.load(f)) for f in files]
        rng = np.random.default_rng(seed)
        self.items = [
            (i, int(at))
            for i in range(len(files))
            for at in rng.integers(0, MINUTES * 60 * RATE - WINDOW, WINDOWS_PER_PATIENT)
        ]
        self.labels = [int(f.stem.rsplit("_", 1)[1]) for f in files]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        patient, at = self.items[index]
        window = self.recordings[patient][:, at:at + WINDOW]
        return torch.from_numpy(window.copy()), self.labels[patient]


class RhythmNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        layers, channels = [], 2
        for i in range(4):
            out = width * (1 + i // 2)
            layers += [nn.Conv1d(channels, out, 7, stride=2, padding=3), nn.BatchNorm1d(out), nn.ReLU()]
            channels = out
        self.features = nn.Sequential(*layers)
        self.rnn = nn.GRU(channels, 32, batch_first=True)
        self.head = nn.Linear(32, 2)

    def forward(self, x):
        _, h = self.rnn(self.features(x).transpose(1, 2))
        return self.head(h[-1])


def run_epoch(model, loader, optimiser=None):
    total, right, seen = 0.0, 0, 0
    model.train(optimiser is not None)
    with torch.set_grad_enabled(optimiser is not None):
        for x, y in loader:
            logits = model(x)
            loss = nn.functional.cross_entropy(logits, y)
            if optimiser is not None:
                optimiser.zero_grad(set_to_none=True)
                loss.backward()
                optimiser.step()
            total += loss.item() * len(y)
            right += (logits.argmax(1) == y).sum().item()
            seen += len(y)
    return total / seen, right / seen


def main():
    torch.manual_seed(5)
    rng = np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as tmp:
        files = write_study(Path(tmp), rng)
        split = PATIENTS * 3 // 4
        train = DataLoader(WindowDataset(files[:split], 1), batch_size=32, shuffle=True,
                           generator=torch.Generator().manual_seed(5))
        valid = DataLoader(WindowDataset(files[split:], 2), batch_size=64)
        model = RhythmNet()
        optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
        for epoch in range(EPOCHS):
            loss, accuracy = run_epoch(model, train, optimiser)
            print(f"epoch {epoch}: loss {loss:.3f} accuracy {accuracy:.3f}")
        loss, accuracy = run_epoch(model, valid)
        print(f"validation: loss {loss:.3f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
