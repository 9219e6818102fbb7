"""Quantile forecast of electricity load with a dilated causal convolution net.

A year of hourly readings for several substations is simulated; the model
predicts the next day's load at three quantiles and is scored by coverage.
"""
import numpy as np
import torch
from torch import nn

SITES = 12
HOURS = 24 * 364
HISTORY, HORIZON = 168, 24
QUANTILES = (0.1, 0.5, 0.9)


def simulate(seed):
    rng = np.random.default_rng(seed)
    t = np.arange(HOURS)
    series = []
    for _ in range(SITES):
        base = rng.uniform(20, 60)
        day = rng.uniform(4, 9) * np.sin(2 * np.pi * (t - rng.uniform(6, 10)) / 24)
        week = rng.uniform(1, 4) * (t // 24 % 7 < 5)
        season = rng.uniform(3, 8) * np.cos(2 * np.pi * t / (24 * 364))
        noise = np.zeros(HOURS)
        shock = rng.normal(0, 0.6, HOURS)
        for k in range(1, HOURS):
            noise[k] = 0.85 * noise[k - 1] + shock[k]
        series.append(base + day + week + season + noise)
    return np.stack(series)


def features(load):
    t = np.arange(HOURS)
    mean = load.mean(1, keepdims=True)
    std = load.std(1, keepdims=True)
    calendar = np.stack([
        np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24),
        np.sin(2 * np.pi * t / 168), np.cos(2 * np.pi * t / 168), (t // 24 % 7 < 5) - 0.5,
    ])
    scaled = (load - mean) / std
    return np.concatenate([scaled[:, None], np.broadcast_to(calendar, (SITES,) + calendar.shape)], 1), scaled


class PinballLoss(torch.autograd.Function):
    """Mean quantile loss with its derivative written out."""

    @staticmethod
    def forward(ctx, guess, truth, q):
        error = truth.unsqueeze(-1) - guess
        ctx.save_for_backward(error, q)
        return torch.maximum(q * error, (q - 1) * error).mean()

    @staticmethod
    def backward(ctx, grad):
        error, q = ctx.saved_tensors
        slope = torch.where(error > 0, -q, 1 - q)
        return grad * slope / error.numel(), None, None


class CausalBlock(nn.Module):
    def __init__(self, width, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.conv = nn.Conv1d(width, 2 * width, 3, dilation=dilation)
        self.mix = nn.Conv1d(width, width, 1)

    def forward(self, x):
        a, b = self.conv(nn.functional.pad(x, (self.pad, 0))).chunk(2, 1)
        return x + self.mix(torch.tanh(a) * torch.sigmoid(b))


class Forecaster(nn.Module):
    def __init__(self, inputs, width=32):
        super().__init__()
        self.enter = nn.Conv1d(inputs, width, 1)
        self.blocks = nn.Sequential(*[CausalBlock(width, 2**k) for k in range(6)])
        self.leave = nn.Linear(width, HORIZON * len(QUANTILES))

    def forward(self, x):
        last = self.blocks(self.enter(x))[:, :, -1]
        return self.leave(last).view(-1, HORIZON, len(QUANTILES))


class Windows:
    def __init__(self, inputs, target, first, last, seed):
        self.inputs = torch.from_numpy(inputs).float()
        self.target = torch.from_numpy(target).float()
        self.first, self.last = first, last
        self.rng = np.random.default_rng(seed)

    def batch(self, n):
        site = self.rng.integers(0, SITES, n)
        start = self.rng.integers(self.first, self.last - HISTORY - HORIZON, n)
        x = torch.stack([self.inputs[s, :, k : k + HISTORY] for s, k in zip(site, start)])
        y = torch.stack([self.target[s, k + HISTORY : k + HISTORY + HORIZON] for s, k in zip(site, start)])
        return x, y


def main():
    torch.manual_seed(21)
    inputs, target = features(simulate(8))
    cut = int(HOURS * 0.8)
    train = Windows(inputs, target, 0, cut, 1)
    test = Windows(inputs, target, cut, HOURS, 2)
    quantiles = torch.tensor(QUANTILES, dtype=train.target.dtype)
    model = Forecaster(inputs.shape[1]).to(train.inputs.dtype)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)

    running = []
    for step in range(80):
        x, y = train.batch(32)
        loss = PinballLoss.apply(model(x), y, quantiles)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running.append(float(loss.detach()))

    with torch.no_grad():
        inside, error, n = 0.0, 0.0, 8
        for _ in range(n):
            x, y = test.batch(64)
            low, mid, high = model(x).unbind(-1)
            inside += float(((y >= low) & (y <= high)).to(y.dtype).mean())
            error += float((mid - y).abs().mean())
    print(f"loss first {np.mean(running[:20]):.2f} last {np.mean(running[-20:]):.2f}")
    print(f"coverage {inside / n:.1f} median error {error / n:.2f}")


if __name__ == "__main__":
    main()
