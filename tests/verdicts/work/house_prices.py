"""House price regression with early stopping on a validation set."""
import argparse
import json
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


def make_houses(n, seed):
    gen = torch.Generator().manual_seed(seed)
    area = torch.rand(n, generator=gen) * 220 + 30
    rooms = torch.randint(1, 8, (n,), generator=gen).float()
    age = torch.rand(n, generator=gen) * 90
    where = torch.rand(n, 2, generator=gen)
    extra = torch.randn(n, 12, generator=gen)
    centre = torch.exp(-((where - 0.5) ** 2).sum(1) * 8)
    price = 1.9 * area + 9 * rooms - 0.6 * age + 160 * centre * (area / 120) + 12 * extra[:, 0]
    price = price + 15 * torch.randn(n, generator=gen)
    x = torch.cat([area[:, None] / 100, rooms[:, None] / 4, age[:, None] / 50, where, extra], 1)
    return x, (price[:, None] - 300) / 150


class PriceNet(nn.Module):
    def __init__(self, n_in, width=128):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, width), nn.SiLU(), nn.LayerNorm(width),
                                  nn.Linear(width, width), nn.SiLU(), nn.LayerNorm(width))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.body(x))


class Validator:
    def __init__(self, loader):
        self.loader = loader
        self.seconds = 0.0
        self.best = float("inf")
        self.stale = 0

    @torch.no_grad()
    def check(self, net):
        start = time.perf_counter()
        net.eval()
        total = n = 0
        for x, y in self.loader:
            total += ((net(x) - y).abs().sum() * 150).item()
            n += len(y)
        net.train()
        mae = total / n
        if mae < self.best:
            self.best, self.stale = mae, 0
        else:
            self.stale += 1
        self.seconds += time.perf_counter() - start
        return mae


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--epochs", type=int, default=18)
    ap.add_argument("--val-every", type=int, default=10)
    args = ap.parse_args()
    torch.manual_seed(6)
    train = TensorDataset(*make_houses(6400, 1))
    valid = TensorDataset(*make_houses(3000, 2))
    loader = DataLoader(train, batch_size=128, shuffle=True)
    validator = Validator(DataLoader(valid, batch_size=250))
    net = PriceNet(17)
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 6e-3, total_steps=args.epochs * len(loader))
    step = 0
    every = len(loader) if args.repaired else args.val_every
    begin = time.perf_counter()
    for epoch in range(args.epochs):
        for x, y in loader:
            loss = nn.functional.smooth_l1_loss(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            step += 1
            if step % every == 0:
                mae = validator.check(net)
        print(f"epoch {epoch}  step {step}  val MAE {mae:.2f}k  best {validator.best:.2f}k")
    total = time.perf_counter() - begin
    print("TRUTH", json.dumps({"share": round(validator.seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
