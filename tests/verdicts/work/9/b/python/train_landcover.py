"""Trains a patch classifier for satellite land cover from compressed shards.

The shards are written once (as the export job does) and then read through a
DataLoader; each shard holds a few hundred multi-band patches.
"""
import io
import tempfile
import zlib
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BANDS, SIZE, CLASSES = 4, 16, 5
SHARDS, PER_SHARD = 8, 144


def write_shards(folder, seed):
    rng = np.random.default_rng(seed)
    signature = rng.uniform(0.2, 0.8, (CLASSES, BANDS))
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    for s in range(SHARDS):
        labels = rng.integers(0, CLASSES, PER_SHARD)
        tilt = rng.normal(0, 0.15, (PER_SHARD, BANDS, 2, 1, 1))
        patches = signature[labels][:, :, None, None] + tilt[:, :, 0] * xx + tilt[:, :, 1] * yy
        patches += rng.normal(0, 0.12, patches.shape)
        stripes = (labels % 2)[:, None, None, None] * 0.05 * np.sin(xx * 25)
        quantised = np.clip((patches + stripes) * 4096, 0, 65535).astype(np.uint16)
        buf = io.BytesIO()
        np.savez(buf, patches=quantised, labels=labels.astype(np.int64))
        (folder / f"shard-{s:03d}.bin").write_bytes(zlib.compress(buf.getvalue(), 3))


class ShardReader:
    """Decodes one shard file; arrays are indexed by the position in the shard."""

    def __init__(self, path):
        self.path = path

    def load(self):
        raw = zlib.decompress(self.path.read_bytes())
        with np.load(io.BytesIO(raw)) as z:
            return z["patches"], z["labels"]


class LandCover(Dataset):
    def __init__(self, paths):
        self.readers = [ShardReader(p) for p in paths]

    def __len__(self):
        return len(self.readers) * PER_SHARD

    def __getitem__(self, i):
        shard, row = divmod(i, PER_SHARD)
        patches, labels = self.readers[shard].load()
        patch = torch.from_numpy(patches[row].astype(np.float32) / 4096.0)
        return patch - 0.5, int(labels[row])


class PatchNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(BANDS, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        )
        self.head = nn.Linear(64, CLASSES)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def run_epoch(model, loader, loss_fn, optimizer=None):
    model.train(optimizer is not None)
    seen = right = 0
    total = 0.0
    with torch.set_grad_enabled(optimizer is not None):
        for patches, labels in loader:
            logits = model(patches)
            loss = loss_fn(logits, labels)
            if optimizer is not None:
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
            total += float(loss.detach()) * len(labels)
            right += int((logits.argmax(1) == labels).sum())
            seen += len(labels)
    return total / seen, right / seen


def main():
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory(prefix="landcover-") as name:
        folder = Path(name)
        write_shards(folder, 11)
        paths = sorted(folder.glob("shard-*.bin"))
        shuffle = torch.Generator().manual_seed(4)
        train = DataLoader(LandCover(paths[:-1]), batch_size=32, shuffle=True, generator=shuffle)
        valid = DataLoader(LandCover(paths[-1:]), batch_size=64)

        model = PatchNet()
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
        loss_fn = nn.CrossEntropyLoss()
        for epoch in range(2):
            loss, accuracy = run_epoch(model, train, loss_fn, optimizer)
            print(f"epoch {epoch} loss {loss:.3f} accuracy {accuracy:.3f}")
        loss, accuracy = run_epoch(model, valid, loss_fn)
        print(f"valid loss {loss:.3f} accuracy {accuracy:.3f} on {len(valid.dataset)} patches")


if __name__ == "__main__":
    main()
