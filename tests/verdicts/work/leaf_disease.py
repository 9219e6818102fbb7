"""Leaf disease classifier: few labelled photos, many short epochs."""
import argparse
import json
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
SIDE, KINDS = 32, 4


class LeafPhotos(Dataset):
    def __init__(self, n, seed, train):
        gen = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, KINDS, (n,), generator=gen)
        green = torch.tensor([0.2, 0.6, 0.2])[None, :, None, None]
        self.images = green + 0.08 * torch.randn(n, 3, SIDE, SIDE, generator=gen)
        for i, kind in enumerate(self.labels.tolist()):
            for _ in range(3 * kind):                      # more spots, worse disease
                r, c = torch.randint(0, SIDE - 4, (2,), generator=gen).tolist()
                self.images[i, :, r:r + 3, c:c + 3] = torch.tensor([0.45, 0.3, 0.1])[:, None, None]
        self.train = train

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        image = self.images[i]
        if self.train and torch.rand(()) < 0.5:
            image = image.flip(-1)
        return image, self.labels[i]


def build():
    return nn.Sequential(
        nn.Conv2d(3, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(24, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(2), nn.Flatten(),
        nn.Linear(128, KINDS))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--epochs", type=int, default=12)
    args = ap.parse_args()
    torch.manual_seed(16)
    workers = 0 if args.repaired else 4
    train = LeafPhotos(160, 1, True)
    test = LeafPhotos(200, 2, False)
    loader = DataLoader(train, batch_size=32, shuffle=True, num_workers=workers)
    net = build()
    opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    wait_seconds = 0.0
    begin = time.perf_counter()
    for epoch in range(args.epochs):
        loss_sum = seen = 0
        start = time.perf_counter()
        batches = iter(loader)
        while True:
            try:
                x, y = next(batches)
            except StopIteration:
                break
            wait_seconds += time.perf_counter() - start
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            loss_sum += loss.item() * len(y)
            seen += len(y)
            start = time.perf_counter()
        wait_seconds += time.perf_counter() - start
        sched.step()
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1}  loss {loss_sum / seen:.4f}")
    total = time.perf_counter() - begin
    net.eval()
    with torch.no_grad():
        acc = (net(test.images).argmax(1) == test.labels).float().mean().item()
    print(f"test accuracy {acc:.3f}")
    print("TRUTH", json.dumps({"share": round(wait_seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
