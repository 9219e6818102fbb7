"""Trains a small 1-D convolutional network to tell four heart rhythms apart.

The recordings lie in compressed shards, as the ingest job leaves them; the
data set serves single windows out of them to a shuffling DataLoader.
"""
import functools
import pickle
import tempfile
import zlib
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SHARDS = 16
WINDOWS_PER_SHARD = 160
LENGTH = 500
CLASSES = ["normal", "fibrillation", "tachycardia", "pause"]
EPOCHS = 3


def synth_window(rng, label):
    t = np.arange(LENGTH) / 250.0
    rate = {0: 1.2, 1: 1.4, 2: 2.5, 3: 1.0}[label] * rng.uniform(0.9, 1.1)
    if label == 1:
        beats = np.cumsum(rng.uniform(0.3, 1.1, size=8))
    else:
        beats = np.arange(0.1, 2.2, 1 / rate)
    if label == 3:
        beats = beats[beats < rng.uniform(0.6, 1.1)]
    signal = rng.normal(0, 0.12, size=LENGTH) + 0.2 * np.sin(2 * np.pi * 0.3 * t + rng.uniform(0, 6))
    for b in beats:
        signal += np.exp(-(((t - b) / 0.02) ** 2)) - 0.25 * np.exp(-(((t - b - 0.05) / 0.03) ** 2))
        if label != 1:
            signal += 0.2 * np.exp(-(((t - b + 0.16) / 0.04) ** 2))
    return signal.astype(np.float32)


def write_shards(folder, seed):
    rng = np.random.default_rng(seed)
    for s in range(SHARDS):
        labels = rng.integers(0, len(CLASSES), size=WINDOWS_PER_SHARD)
        windows = np.stack([synth_window(rng, int(k)) for k in labels])
        quantised = np.round(windows * 2000).astype(np.int16)
        blob = pickle.dumps({"windows": quantised, "labels": labels.astype(np.int64), "scale": 1 / 2000})
        (folder / f"shard-{s:03d}.bin").write_bytes(zlib.compress(blob, 6))


@functools.lru_cache(maxsize=2)
def open_shard(path):
    return pickle.loads(zlib.decompress(Path(path).read_bytes()))


class WindowDataset(Dataset):
    def __init__(self, folder, shards, augment=False):
        self.paths = [str(folder / f"shard-{s:03d}.bin") for s in shards]
        self.augment = augment

    def __len__(self):
        return len(self.paths) * WINDOWS_PER_SHARD

    def __getitem__(self, index):
        shard = open_shard(self.paths[index // WINDOWS_PER_SHARD])
        k = index % WINDOWS_PER_SHARD
        x = torch.from_numpy(shard["windows"][k].astype(np.float32)) * shard["scale"]
        if self.augment:
            x = torch.roll(x, int(index * 7919 % 50)) * (0.9 + 0.2 * (index % 11) / 10)
        return x.unsqueeze(0), int(shard["labels"][k])


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(cin, cout, 7, stride=stride, padding=3, bias=False),
            nn.BatchNorm1d(cout),
            nn.ReLU(),
            nn.Conv1d(cout, cout, 3, padding=1, bias=False),
            nn.BatchNorm1d(cout),
        )
        self.skip = nn.Conv1d(cin, cout, 1, stride=stride)

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


class RhythmNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(1, 16, 4), Block(16, 24, 2), Block(24, 48, 2))
        self.head = nn.Linear(48, len(CLASSES))

    def forward(self, x):
        return self.head(self.blocks(x).mean(dim=2))


def train_epoch(model, loader, optimizer, schedule):
    model.train()
    seen, loss_sum = 0, torch.zeros(())
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y, label_smoothing=0.05)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        schedule.step()
        loss_sum += loss.detach() * len(y)
        seen += len(y)
    return float(loss_sum / seen)


@torch.inference_mode()
def evaluate(model, loader):
    model.eval()
    confusion = torch.zeros(len(CLASSES), len(CLASSES), dtype=torch.long)
    for x, y in loader:
        predicted = model(x).argmax(dim=1)
        confusion += torch.bincount(y * len(CLASSES) + predicted, minlength=len(CLASSES) ** 2).view_as(confusion)
    return confusion


def main():
    torch.manual_seed(17)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_shards(folder, seed=5)
        train = WindowDataset(folder, range(SHARDS - 3), augment=True)
        held_out = WindowDataset(folder, range(SHARDS - 3, SHARDS))
        order = torch.Generator().manual_seed(3)
        train_loader = DataLoader(train, batch_size=64, shuffle=True, generator=order, drop_last=True)
        test_loader = DataLoader(held_out, batch_size=128)
        model = RhythmNet()
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-3)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=EPOCHS * len(train_loader))
        for epoch in range(EPOCHS):
            loss = train_epoch(model, train_loader, optimizer, schedule)
            confusion = evaluate(model, test_loader)
            accuracy = float(confusion.diagonal().sum() / confusion.sum())
            print(f"epoch {epoch + 1}: loss {loss:.3f}, accuracy {accuracy:.3f}")
        recall = confusion.diagonal() / confusion.sum(dim=1).clamp(min=1)
        print("recall:", ", ".join(f"{c} {r:.2f}" for c, r in zip(CLASSES, recall.tolist())))


if __name__ == "__main__":
    main()
