"""Classify weld seam X-ray patches (ok / pore / crack) from compressed shards."""
import argparse
import json
import os
import tempfile
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
SIDE, PER_SHARD, SHARDS = 32, 200, 4
read_seconds = 0.0


def make_patch(rng, label):
    img = rng.normal(110, 18, (SIDE, SIDE))
    if label == 1:                                   # pore: dark disc
        cy, cx = rng.integers(8, SIDE - 8, 2)
        yy, xx = np.mgrid[:SIDE, :SIDE]
        img[(yy - cy) ** 2 + (xx - cx) ** 2 < 20] -= 70
    elif label == 2:                                 # crack: bright line
        row = rng.integers(6, SIDE - 6)
        img[row:row + 2, 4:28] += 65
    return np.clip(img, 0, 255).astype(np.uint8)


def write_shards(folder):
    rng = np.random.default_rng(3)
    paths = []
    for s in range(SHARDS):
        labels = rng.integers(0, 3, PER_SHARD)
        images = np.stack([make_patch(rng, k) for k in labels])
        path = os.path.join(folder, f"seam_{s:03d}.npz")
        np.savez_compressed(path, images=images, labels=labels)
        paths.append(path)
    return paths


class WeldPatches(Dataset):
    def __init__(self, paths, keep=False):
        self.paths = paths
        self.kept = [self._open(p) for p in paths] if keep else None

    @staticmethod
    def _open(path):
        with np.load(path) as z:
            return z["images"], z["labels"]

    def __len__(self):
        return len(self.paths) * PER_SHARD

    def __getitem__(self, i):
        global read_seconds
        start = time.perf_counter()
        shard, row = divmod(i, PER_SHARD)
        images, labels = self.kept[shard] if self.kept else self._open(self.paths[shard])
        read_seconds += time.perf_counter() - start
        x = torch.from_numpy(images[row].astype(np.float32) / 255.0)[None]
        return x, int(labels[row])


def build():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 64, 64), nn.ReLU(), nn.Linear(64, 3))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--epochs", type=int, default=3)
    args = ap.parse_args()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        data = WeldPatches(write_shards(folder), keep=args.repaired)
        loader = DataLoader(data, batch_size=32, shuffle=True)
        net = build()
        opt = torch.optim.Adam(net.parameters(), lr=2e-3)
        begin = time.perf_counter()
        for epoch in range(args.epochs):
            hits, loss_sum = 0, 0.0
            for x, y in loader:
                out = net(x)
                loss = nn.functional.cross_entropy(out, y)
                opt.zero_grad()
                loss.backward()
                opt.step()
                loss_sum += loss.item() * len(y)
                hits += (out.argmax(1) == y).sum().item()
            print(f"epoch {epoch}  loss {loss_sum / len(data):.4f}  acc {hits / len(data):.3f}")
        total = time.perf_counter() - begin
    print("TRUTH", json.dumps({"share": round(read_seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
