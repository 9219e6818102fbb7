"""Trains a land-cover classifier on satellite patches stored in shard files.

The shards are written first (the import step of the pipeline), then read by a
Dataset in two loader workers.
"""
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SHARDS = 12
PER_SHARD = 80
BANDS = 4
SIZE = 32
CLASSES = 5
EPOCHS = 3
BATCH = 32


def synthesise_patch(label, rng):
    """Each class has its own spectrum and texture."""
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    angle, freq = rng.uniform(0, np.pi), 0.15 + 0.2 * label
    texture = np.sin(freq * (x * np.cos(angle) + y * np.sin(angle)) + rng.uniform(0, 6))
    spectrum = np.cos(np.arange(BANDS) * (label + 1) * 0.9)
    noise = rng.normal(0, 0.8, (BANDS, SIZE, SIZE))
    patch = 110 + 25 * spectrum[:, None, None] + 22 * texture[None] + 22 * noise
    return patch.clip(0, 255).astype(np.uint8)


def import_patches(root):
    rng = np.random.default_rng(8)
    for shard in range(SHARDS):
        labels = rng.integers(0, CLASSES, PER_SHARD)
        patches = np.stack([synthesise_patch(int(label), rng) for label in labels])
        cloud = rng.random(PER_SHARD).astype(np.float32)
        np.savez_compressed(root / f"shard{shard:03d}.npz", patches=patches, labels=labels,
                            cloud=cloud)


class PatchDataset(Dataset):
    def __init__(self, root, shards, augment):
        self.files = [root / f"shard{s:03d}.npz" for s in shards]
        self.augment = augment
        self.index = [(f, i) for f in self.files for i in range(PER_SHARD)]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, item):
        path, i = self.index[item]
        with np.load(path) as shard:
            patch = torch.from_numpy(shard["patches"][i])
            label = int(shard["labels"][i])
        image = patch.float().div_(127.5).sub_(1.0)
        if self.augment:
            gen = torch.Generator().manual_seed(item)
            turns = int(torch.randint(4, (1,), generator=gen))
            image = torch.rot90(image, turns, (1, 2))
            image = image + 0.05 * torch.randn(image.shape, generator=gen)
        return image, label


class PatchNet(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [BANDS, 24, 48, 64]
        layers = []
        for a, b in zip(widths, widths[1:]):
            layers += [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]
        self.features = nn.Sequential(*layers)
        self.head = nn.Linear(widths[-1], CLASSES)

    def forward(self, x):
        return self.head(self.features(x).mean((2, 3)))


def loader(dataset, shuffle, seed):
    return DataLoader(dataset, batch_size=BATCH, shuffle=shuffle, num_workers=2,
                      persistent_workers=True,
                      generator=torch.Generator().manual_seed(seed))


def train_epoch(model, batches, optimizer, scheduler):
    model.train()
    total = count = 0
    for images, labels in batches:
        loss = F.cross_entropy(model(images), labels, label_smoothing=0.05)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item() * len(labels)
        count += len(labels)
    return total / count


@torch.inference_mode()
def accuracy(model, batches):
    model.eval()
    right = count = 0
    for images, labels in batches:
        right += (model(images).argmax(1) == labels).sum().item()
        count += len(labels)
    return right / count


def main():
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as tmp:
        root = Path(tmp)
        import_patches(root)
        train_set = PatchDataset(root, range(SHARDS - 2), augment=True)
        valid_set = PatchDataset(root, range(SHARDS - 2, SHARDS), augment=False)
        train_batches = loader(train_set, True, 1)
        valid_batches = loader(valid_set, False, 2)
        model = PatchNet()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
        scheduler = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, max_lr=0.1, total_steps=EPOCHS * len(train_batches))
        for epoch in range(EPOCHS):
            loss = train_epoch(model, train_batches, optimizer, scheduler)
            print(f"epoch {epoch}  loss {loss:.2f}  accuracy {accuracy(model, valid_batches):.2f}")
        del train_batches, valid_batches


if __name__ == "__main__":
    main()
