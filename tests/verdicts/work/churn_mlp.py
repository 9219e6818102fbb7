"""Customer churn model: tabular MLP with best-model checkpointing."""
import argparse
import json
import os
import tempfile
import time

import torch
from torch import nn

torch.set_num_threads(1)
FEATURES, BATCH = 64, 256


def make_customers(n, seed):
    gen = torch.Generator().manual_seed(seed)
    x = torch.randn(n, FEATURES, generator=gen)
    w = torch.randn(FEATURES, generator=gen) / 4
    logit = x @ w + 0.8 * x[:, 0] * x[:, 1] - 0.6 * x[:, 2].abs()
    y = (torch.rand(n, generator=gen) < torch.sigmoid(2 * logit)).float()
    return x, y


class Checkpointer:
    def __init__(self, folder):
        self.path = os.path.join(folder, "best.pt")
        self.seconds = 0.0
        self.saves = 0
        self.best = float("inf")

    def offer(self, score, step, net, opt):
        if score >= self.best:
            return
        start = time.perf_counter()
        self.best = score
        tmp = self.path + ".tmp"
        with open(tmp, "wb") as f:
            torch.save({"step": step, "score": score, "model": net.state_dict(),
                        "optimizer": opt.state_dict()}, f)
            f.flush()
            os.fsync(f.fileno())
        os.replace(tmp, self.path)
        self.saves += 1
        self.seconds += time.perf_counter() - start


def build():
    return nn.Sequential(
        nn.Linear(FEATURES, 384), nn.ReLU(), nn.Dropout(0.1),
        nn.Linear(384, 384), nn.ReLU(), nn.Dropout(0.1), nn.Linear(384, 1))


@torch.no_grad()
def accuracy(net, x, y):
    net.eval()
    hit = ((net(x).squeeze(1) > 0) == (y > 0.5)).float().mean().item()
    net.train()
    return hit


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--epochs", type=int, default=4)
    args = ap.parse_args()
    torch.manual_seed(5)
    x, y = make_customers(16000, 8)
    x, xv, y, yv = x[:14000], x[14000:], y[:14000], y[14000:]
    net = build()
    opt = torch.optim.Adam(net.parameters(), lr=3e-4)
    smooth = None
    with tempfile.TemporaryDirectory() as folder:
        ckpt = Checkpointer(folder)
        step = 0
        begin = time.perf_counter()
        for epoch in range(args.epochs):
            order = torch.randperm(len(x))
            for at in range(0, len(order), BATCH):
                rows = order[at:at + BATCH]
                loss = nn.functional.binary_cross_entropy_with_logits(net(x[rows]).squeeze(1), y[rows])
                opt.zero_grad()
                loss.backward()
                opt.step()
                step += 1
                value = loss.item()
                smooth = value if smooth is None else 0.97 * smooth + 0.03 * value
                if not args.repaired:
                    ckpt.offer(smooth, step, net, opt)
            acc = accuracy(net, xv, yv)
            if args.repaired:
                ckpt.offer(-acc, step, net, opt)
            print(f"epoch {epoch}  train loss {smooth:.4f}  val acc {acc:.3f}  checkpoints {ckpt.saves}")
        total = time.perf_counter() - begin
    print("TRUTH", json.dumps({"share": round(ckpt.seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
