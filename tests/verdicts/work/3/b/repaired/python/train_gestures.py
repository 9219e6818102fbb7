"""Train a small recurrent classifier on synthetic wrist-sensor gestures."""
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler

CHANNELS = 6
LENGTH = 40
CLASSES = 8


class GestureSet(Dataset):
    """Windows cut from long recordings, jittered reproducibly per index."""

    def __init__(self, size, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, CLASSES, size)
        t = np.linspace(0, 2 * np.pi, LENGTH + 16)
        phase = rng.uniform(0, 0.8, (size, CHANNELS, 1))
        freq = 1 + self.labels[:, None, None] * 0.5 + np.arange(CHANNELS)[None, :, None] * 0.1
        self.signal = np.sin(freq * t + phase).astype(np.float32)
        self.signal += rng.normal(0, 0.3, self.signal.shape).astype(np.float32)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        shift = (i * 7) % 16
        window = self.signal[i, :, shift:shift + LENGTH]
        window = (window - window.mean(axis=1, keepdims=True)) / (window.std(axis=1, keepdims=True) + 1e-6)
        return torch.from_numpy(window.T.copy()), int(self.labels[i])


class GestureNet(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.rnn = nn.GRU(CHANNELS, hidden, batch_first=True)
        self.head = nn.Linear(hidden, CLASSES)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(out[:, -1])


def make_loader(dataset, batch, shuffle, workers):
    sampler = None
    if shuffle:
        sampler = RandomSampler(dataset, generator=torch.Generator().manual_seed(5))
    return DataLoader(dataset, batch_size=batch, sampler=sampler, num_workers=workers, persistent_workers=workers > 0)


def train_epoch(model, loader, optimizer):
    model.train()
    criterion = nn.CrossEntropyLoss()
    total, seen = 0.0, 0
    for x, y in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
        seen += len(y)
    return total / seen


@torch.inference_mode()
def evaluate(model, loader):
    model.eval()
    right, seen = 0, 0
    for x, y in loader:
        right += int((model(x).argmax(dim=1) == y).sum())
        seen += len(y)
    return right / seen


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=30)
    ap.add_argument("--workers", type=int, default=2)
    args = ap.parse_args()
    torch.manual_seed(1)
    train = make_loader(GestureSet(320, seed=0), 64, True, args.workers)
    valid = make_loader(GestureSet(128, seed=1), 64, False, args.workers)
    model = GestureNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    history = []
    for epoch in range(args.epochs):
        loss = train_epoch(model, train, optimizer)
        history.append((loss, evaluate(model, valid)))
    best = max(acc for _, acc in history)
    print(f"final loss {history[-1][0]:.4f} best accuracy {best:.4f}")


if __name__ == "__main__":
    main()
