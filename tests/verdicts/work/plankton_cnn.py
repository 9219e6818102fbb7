"""Plankton silhouettes: residual CNN with dead-pixel and illumination augmentation."""
import argparse
import json
import random
import time

import torch
from torch import nn

torch.set_num_threads(1)
SIDE, CLASSES, BATCH = 28, 4, 32


def make_plankton(n, seed):
    gen = torch.Generator().manual_seed(seed)
    y = torch.randint(0, CLASSES, (n,), generator=gen)
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, SIDE), torch.linspace(-1, 1, SIDE), indexing="ij")
    angle = torch.atan2(yy, xx)[None]
    radius = (yy ** 2 + xx ** 2).sqrt()[None]
    lobes = (y + 2).float()[:, None, None]
    turn = torch.rand(n, 1, 1, generator=gen) * 1.5
    body = torch.sigmoid((0.5 + 0.2 * torch.cos(lobes * angle + turn) - radius) * 12)
    return (body + 0.10 * torch.randn(body.shape, generator=gen))[:, None], y


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a = nn.Conv2d(width, width, 3, padding=1)
        self.b = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return torch.relu(x + self.b(torch.relu(self.a(x))))


def build():
    return nn.Sequential(nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.ReLU(), Residual(16),
                         nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(), Residual(32),
                         nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, CLASSES))


class Augment:
    """Camera faults: dead pixels and a slope in the illumination."""

    def __init__(self, whole, rate=0.02):
        self.whole, self.rate = whole, rate
        self.rnd = random.Random(3)
        self.seconds = 0.0

    def __call__(self, batch):
        start = time.perf_counter()
        out = self.by_batch(batch) if self.whole else self.by_pixel(batch)
        self.seconds += time.perf_counter() - start
        return out

    def by_pixel(self, batch):
        done = []
        for image in batch:
            rows = image[0].tolist()
            slope = self.rnd.uniform(-0.3, 0.3)
            for r in range(SIDE):
                for c in range(SIDE):
                    rows[r][c] = rows[r][c] * (1 + slope * (c / SIDE - 0.5))
                    if self.rnd.random() < self.rate:
                        rows[r][c] = 0.0
            done.append(torch.tensor(rows)[None])
        return torch.stack(done)

    def by_batch(self, batch):
        slope = torch.rand(len(batch), 1, 1, 1) * 0.6 - 0.3
        ramp = torch.arange(SIDE) / SIDE - 0.5
        alive = torch.rand_like(batch) >= self.rate
        return batch * (1 + slope * ramp) * alive


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--epochs", type=int, default=6)
    args = ap.parse_args()
    torch.manual_seed(14)
    x, y = make_plankton(1280, 6)
    xv, yv = make_plankton(300, 7)
    augment = Augment(args.repaired)
    net = build()
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    begin = time.perf_counter()
    for epoch in range(args.epochs):
        order, loss_sum = torch.randperm(len(x)), 0.0
        for at in range(0, len(x), BATCH):
            rows = order[at:at + BATCH]
            loss = nn.functional.cross_entropy(net(augment(x[rows])), y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            loss_sum += loss.item()
        with torch.no_grad():
            acc = (net(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch}  loss {loss_sum * BATCH / len(x):.4f}  val acc {acc:.3f}")
    total = time.perf_counter() - begin
    print("TRUTH", json.dumps({"share": round(augment.seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
