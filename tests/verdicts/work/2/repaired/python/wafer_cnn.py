"""Trains a small CNN that classifies wafer maps stored as compressed archives."""
import shutil
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE = 48
CLASSES = 6
PER_FILE = 64


def draw_wafer(rng, label):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE - 0.5
    radius = np.hypot(xx, yy)
    angle = np.arctan2(yy, xx)
    rate = 0.04 + 0.6 * {
        0: np.zeros_like(radius),
        1: np.exp(-((radius - 0.42) / 0.04) ** 2),
        2: np.exp(-(radius / 0.12) ** 2),
        3: np.exp(-((xx - 0.1) / 0.03) ** 2),
        4: np.exp(-((angle - 0.7) / 0.25) ** 2) * (radius > 0.2),
        5: np.exp(-(((radius - 0.25) / 0.05) ** 2)),
    }[label]
    image = (rng.random((SIZE, SIZE)) < rate).astype(np.float32)
    image += 0.05 * rng.standard_normal((SIZE, SIZE)).astype(np.float32)
    return image


def write_lots(folder, lots, seed):
    rng = np.random.default_rng(seed)
    for lot in range(lots):
        labels = rng.integers(0, CLASSES, PER_FILE)
        images = np.stack([draw_wafer(rng, int(k)) for k in labels])
        np.savez_compressed(folder / f"lot{lot:03d}.npz", images=images, labels=labels)


class WaferDataset(Dataset):
    def __init__(self, folder):
        self.files = sorted(folder.glob("lot*.npz"))
        images, labels = [], []
        for path in self.files:
            with np.load(path) as lot:
                images.append(lot["images"])
                labels.append(lot["labels"])
        self.images, self.labels = np.concatenate(images), np.concatenate(labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = self.images[index]
        label = int(self.labels[index])
        image = (image - image.mean()) / (image.std() + 1e-6)
        return torch.from_numpy(image)[None], label


class WaferNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.AdaptiveAvgPool2d(3),
        )
        self.head = nn.Linear(48 * 9, CLASSES)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


def train_epoch(model, loader, optimizer):
    model.train()
    total, seen = 0.0, 0
    for images, labels in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
        seen += len(labels)
    return total / seen


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    folder = Path(tempfile.mkdtemp(prefix="wafers"))
    try:
        write_lots(folder, 9, seed=1)
        loader = DataLoader(WaferDataset(folder), batch_size=32, shuffle=True)
        model = WaferNet()
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
        for epoch in range(2):
            print(f"epoch {epoch} loss {train_epoch(model, loader, optimizer):.4f}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
