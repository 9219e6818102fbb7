"""Electricity load forecast: one-layer transformer on hourly windows."""
import argparse
import json
import math
import time

import torch
from torch import nn

torch.set_num_threads(1)
WINDOW, AHEAD, WIDTH = 24, 6, 32


def make_load(hours, gen):
    t = torch.arange(hours).float()
    day = torch.sin(2 * math.pi * t / 24) + 0.4 * torch.sin(4 * math.pi * t / 24 + 1)
    week = 0.3 * torch.sin(2 * math.pi * t / 168)
    weather = torch.cumsum(torch.randn(hours, generator=gen), 0)
    weather = 0.2 * (weather - weather.mean()) / weather.std()
    return day + week + weather + 0.08 * torch.randn(hours, generator=gen)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(1, WIDTH)
        self.pos = nn.Parameter(torch.randn(WINDOW, WIDTH) * 0.02)
        self.layer = nn.TransformerEncoderLayer(WIDTH, 4, 64, dropout=0.0, batch_first=True)
        self.out = nn.Linear(WIDTH, AHEAD)

    def forward(self, x):
        h = self.layer(self.inp(x[..., None]) + self.pos)
        return self.out(h[:, -1])


class LossTracker:
    """Mean and spread of the training loss so far, shown on the status line."""

    def __init__(self, plain):
        self.plain = plain
        self.losses = []
        self.seconds = 0.0
        self.total = self.square = 0.0

    def add(self, loss):
        start = time.perf_counter()
        if self.plain:
            value = loss.item()
            self.losses.append(value)
            self.total += value
            self.square += value * value
            n = len(self.losses)
            self.mean = self.total / n
            self.spread = math.sqrt(max(self.square / n - self.mean ** 2, 0))
        else:
            self.losses.append(loss)
            self.mean = sum(self.losses) / len(self.losses)
            self.spread = torch.stack(self.losses).std(correction=0)
        self.seconds += time.perf_counter() - start


def windows(load, starts):
    at = starts[:, None] + torch.arange(WINDOW + AHEAD)
    w = load[at]
    return w[:, :WINDOW], w[:, WINDOW:]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--steps", type=int, default=1000)
    args = ap.parse_args()
    torch.manual_seed(15)
    load = make_load(6000, torch.Generator().manual_seed(16))
    train_end = 5000
    net = Forecaster()
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
    warm = torch.optim.lr_scheduler.LinearLR(opt, 0.1, 1.0, 50)
    tracker = LossTracker(args.repaired)
    begin = time.perf_counter()
    for step in range(args.steps):
        x, y = windows(load, torch.randint(0, train_end - WINDOW - AHEAD, (16,)))
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        warm.step()
        tracker.add(loss)
        if step % 150 == 149:
            print(f"step {step + 1}  loss {loss.item():.4f}  mean {float(tracker.mean):.4f} "
                  f"+- {float(tracker.spread):.4f}")
    total = time.perf_counter() - begin
    with torch.no_grad():
        x, y = windows(load, torch.arange(train_end, 6000 - WINDOW - AHEAD))
        print(f"test mse {nn.functional.mse_loss(net(x), y).item():.4f}")
    print("TRUTH", json.dumps({"share": round(tracker.seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
