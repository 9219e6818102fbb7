"""Trains a small U-Net that finds weld seams in camera frames of the line.

Frames are stored the way the labelling tool exports them: compressed shards of
64 frames with masks.  Prints the loss per epoch and the IoU of the held-out part."""
import os
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

SHARDS, PER_SHARD, SIZE = 4, 64, 64
EPOCHS, BATCH = 3, 16


def export_shards(folder):
    """Stands in for the labelling tool: seams are bright curves on brushed metal."""
    rng = np.random.default_rng(31)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32) / SIZE
    paths = []
    for s in range(SHARDS):
        frames = np.empty((PER_SHARD, SIZE, SIZE, 3), np.uint8)
        masks = np.empty((PER_SHARD, SIZE, SIZE), np.uint8)
        for i in range(PER_SHARD):
            a, b, c = rng.uniform(-0.3, 0.3), rng.uniform(2, 6), rng.uniform(0.3, 0.7)
            seam = np.abs(yy - (c + a * np.sin(b * xx))) < rng.uniform(0.03, 0.07)
            base = rng.normal(110, 18, (SIZE, 1, 3)) + rng.normal(0, 12, (SIZE, SIZE, 3))
            base[seam] += rng.uniform(30, 60)
            frames[i] = base.clip(0, 255)
            masks[i] = seam
        path = os.path.join(folder, f"shard_{s:03d}.npz")
        np.savez_compressed(path, frames=frames, masks=masks)
        paths.append(path)
    return paths


class WeldFrames(Dataset):
    def __init__(self, paths):
        self.shards = []
        for p in paths:
            with np.load(p) as z:
                self.shards.append({"frames": z["frames"], "masks": z["masks"]})
        self.index = [(s, i) for s in range(len(paths)) for i in range(PER_SHARD)]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, n):
        s, i = self.index[n]
        shard = self.shards[s]
        frame = torch.from_numpy(shard["frames"][i]).permute(2, 0, 1).float().div_(255)
        mask = torch.from_numpy(shard["masks"][i]).float()
        return frame, mask


class Augment:
    """Flips and exposure, applied to a whole batch."""

    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def __call__(self, x, y):
        flip = torch.rand(len(x), generator=self.gen) < 0.5
        x = torch.where(flip[:, None, None, None], x.flip(3), x)
        y = torch.where(flip[:, None, None], y.flip(2), y)
        gain = 0.8 + 0.4 * torch.rand(len(x), 1, 1, 1, generator=self.gen)
        return (x * gain).clamp_(0, 1), y


def conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, w=8):
        super().__init__()
        self.d1, self.d2, self.d3 = conv(3, w), conv(w, 2 * w), conv(2 * w, 4 * w)
        self.u2, self.u1 = conv(6 * w, 2 * w), conv(3 * w, w)
        self.head = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.d3(F.max_pool2d(b, 2))
        b = self.u2(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        a = self.u1(torch.cat([F.interpolate(b, scale_factor=2), a], 1))
        return self.head(a).squeeze(1)


def dice_bce(logits, y):
    p = torch.sigmoid(logits)
    inter = (p * y).sum((1, 2))
    dice = 1 - (2 * inter + 1) / (p.sum((1, 2)) + y.sum((1, 2)) + 1)
    return F.binary_cross_entropy_with_logits(logits, y) + dice.mean()


@torch.inference_mode()
def iou(model, loader):
    model.eval()
    inter = torch.zeros(())
    union = torch.zeros(())
    for x, y in loader:
        p = model(x) > 0
        t = y > 0.5
        inter += (p & t).sum()
        union += (p | t).sum()
    model.train()
    return float(inter / union)


def main():
    torch.manual_seed(5)
    with tempfile.TemporaryDirectory() as folder:
        data = WeldFrames(export_shards(folder))
        order = torch.randperm(len(data), generator=torch.Generator().manual_seed(2)).tolist()
        held = len(data) // 8
        train = DataLoader(Subset(data, order[held:]), BATCH, shuffle=True, drop_last=True,
                           generator=torch.Generator().manual_seed(3))
        test = DataLoader(Subset(data, order[:held]), 32)
        model = UNet()
        opt = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-4)
        sched = torch.optim.lr_scheduler.OneCycleLR(opt, 4e-3, total_steps=EPOCHS * len(train))
        augment = Augment(9)
        for epoch in range(EPOCHS):
            total = torch.zeros(())
            for x, y in train:
                x, y = augment(x, y)
                loss = dice_bce(model(x), y)
                opt.zero_grad(set_to_none=True)
                loss.backward()
                opt.step()
                sched.step()
                total += loss.detach()
            print(f"epoch {epoch} loss {float(total) / len(train):.3f}", flush=True)
        print(f"held-out IoU {iou(model, test):.3f}")


if __name__ == "__main__":
    main()
