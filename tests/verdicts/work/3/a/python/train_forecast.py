"""Hourly load forecast for feeders of a power grid: windows are cut and
smoothed by loader workers, a small recurrent model learns the next day."""
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler, SequentialSampler

PAST = 48
AHEAD = 6


def synth_feeders(count, hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    series = []
    for _ in range(count):
        day = np.sin(2 * math.pi * (t / 24 + rng.uniform()))
        week = 0.4 * np.sin(2 * math.pi * (t / 168 + rng.uniform()))
        series.append(2 + day + week + 0.15 * rng.standard_normal(hours))
    return np.stack(series).astype(np.float32)


class Windows(Dataset):
    def __init__(self, series, stride):
        self.series = series
        last = series.shape[1] - PAST - AHEAD
        self.index = [(f, s) for f in range(series.shape[0]) for s in range(0, last, stride)]

    def __len__(self):
        return len(self.index)

    def smooth(self, x):
        kernel = np.array([0.25, 0.5, 0.25], dtype=np.float32)
        return np.convolve(np.pad(x, 1, mode="edge"), kernel, mode="valid").astype(np.float32)

    def __getitem__(self, i):
        feeder, start = self.index[i]
        raw = self.series[feeder, start:start + PAST]
        level = raw.mean()
        hours = (np.arange(start, start + PAST) % 24) / 24.0
        past = np.stack([raw - level, self.smooth(raw) - level, hours.astype(np.float32)], axis=1)
        future = self.series[feeder, start + PAST:start + PAST + AHEAD] - level
        return torch.from_numpy(past), torch.from_numpy(future)


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.GRU(3, hidden, batch_first=True)
        self.out = nn.Linear(hidden, AHEAD)

    def forward(self, past):
        _, h = self.rnn(past)
        return self.out(h[-1])


def make_loader(data, train):
    generator = torch.Generator().manual_seed(17)
    sampler = RandomSampler(data, generator=generator) if train else SequentialSampler(data)
    return DataLoader(data, batch_size=64, sampler=sampler, num_workers=2)


def train_epoch(model, loader, optimizer):
    model.train()
    total, seen = 0.0, 0
    for past, future in loader:
        loss = nn.functional.mse_loss(model(past), future)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(past)
        seen += len(past)
    return total / seen


@torch.no_grad()
def validate(model, loader):
    model.eval()
    error, seen = 0.0, 0
    for past, future in loader:
        error += (model(past) - future).abs().mean(1).sum().item()
        seen += len(past)
    return error / seen


def main():
    torch.manual_seed(19)
    series = synth_feeders(6, 1000, seed=23)
    train_loader = make_loader(Windows(series[:, :800], stride=16), train=True)
    valid_loader = make_loader(Windows(series[:, 800:], stride=16), train=False)
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    best = float("inf")
    for epoch in range(25):
        loss = train_epoch(model, train_loader, optimizer)
        error = validate(model, valid_loader)
        best = min(best, error)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1} loss {loss:.4f} error {error:.4f}")
    print(f"best error {best:.4f}")


if __name__ == "__main__":
    main()
