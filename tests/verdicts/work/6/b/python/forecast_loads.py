"""Day-ahead forecasts of feeder loads for the grid operator.

Trains one small residual network for all feeders on hourly windows, with early
stopping on a hold-out week, and prints the pinball losses of the quantiles.
"""
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler

FEEDERS = 12
HOURS = 24 * 7 * 4
HISTORY = 48
HORIZON = 12
QUANTILES = (0.1, 0.5, 0.9)
EPOCHS = 24
PATIENCE = 12


def simulate_feeders(seed):
    """Hourly loads with daily and weekly shape, weather and noise: (feeder, hour)."""
    rng = np.random.default_rng(seed)
    hour = np.arange(HOURS)
    daily = np.sin(2 * np.pi * (hour % 24) / 24 - 1.2)
    weekly = np.where((hour // 24) % 7 < 5, 1.0, 0.75)
    weather = np.cumsum(rng.normal(0, 0.08, HOURS))
    weather -= np.linspace(0, weather[-1], HOURS)
    scale = rng.uniform(0.5, 3.0, (FEEDERS, 1))
    shape = rng.uniform(0.3, 0.8, (FEEDERS, 1))
    noise = rng.normal(0, 0.05, (FEEDERS, HOURS))
    return (scale * (1 + shape * daily * weekly + 0.2 * weather + noise)).astype(np.float32)


def calendar_features():
    hour = np.arange(HOURS)
    day, week = 2 * np.pi * (hour % 24) / 24, 2 * np.pi * (hour % 168) / 168
    return np.stack([np.sin(day), np.cos(day), np.sin(week), np.cos(week)], axis=1).astype(np.float32)


class Windows(Dataset):
    """All windows of all feeders between two hours, standardised per feeder."""

    def __init__(self, loads, start, stop, stride):
        self.mean = loads[:, :HOURS * 3 // 4].mean(axis=1, keepdims=True)
        self.std = loads[:, :HOURS * 3 // 4].std(axis=1, keepdims=True)
        self.scaled = (loads - self.mean) / self.std
        self.calendar = calendar_features()
        self.index = [(f, t) for f in range(FEEDERS) for t in range(start, stop - HISTORY - HORIZON, stride)]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        feeder, t = self.index[i]
        past = slice(t, t + HISTORY)
        future = slice(t + HISTORY, t + HISTORY + HORIZON)
        x = np.concatenate([self.scaled[feeder, past, None], self.calendar[past]], axis=1)
        return x, self.calendar[future], self.scaled[feeder, future]


class QuantileForecaster(nn.Module):
    """Residual network on the flattened history and the calendar of the horizon."""

    def __init__(self, width=256):
        super().__init__()
        self.inlet = nn.Linear(HISTORY * 5 + HORIZON * 4, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
            for _ in range(2))
        self.head = nn.Linear(width, HORIZON * len(QUANTILES))

    def forward(self, past, calendar):
        x = self.inlet(torch.cat([past.flatten(1), calendar.flatten(1)], dim=1))
        for block in self.blocks:
            x = x + block(x)
        change = self.head(x).view(-1, HORIZON, len(QUANTILES))
        return past[:, -1:, :1] + change


def pinball(forecast, target):
    error = target.unsqueeze(-1) - forecast
    q = torch.tensor(QUANTILES)
    return torch.maximum(q * error, (q - 1) * error)


def make_loaders(loads):
    split = HOURS * 3 // 4
    train = Windows(loads, 0, split, stride=11)
    held = Windows(loads, split - HISTORY, HOURS, stride=12)
    order = RandomSampler(train, generator=torch.Generator().manual_seed(5))
    train_loader = DataLoader(train, batch_size=96, sampler=order, num_workers=2)
    held_loader = DataLoader(held, batch_size=256, num_workers=2)
    return train_loader, held_loader


def train_epoch(model, loader, optimizer, schedule):
    model.train()
    total = count = 0
    for past, calendar, target in loader:
        loss = pinball(model(past, calendar), target).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        total += loss.item() * len(target)
        count += len(target)
    return total / count


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    losses, covered = [], []
    for past, calendar, target in loader:
        forecast = model(past, calendar)
        losses.append(pinball(forecast, target).mean(dim=1))
        covered.append(((target >= forecast[..., 0]) & (target <= forecast[..., 2])).float().mean(dim=1))
    return torch.cat(losses).mean(dim=0), torch.cat(covered).mean().item()


def main():
    torch.manual_seed(3)
    train_loader, held_loader = make_loaders(simulate_feeders(17))
    model = QuantileForecaster()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4)
    steps = EPOCHS * len(train_loader)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * min(s / steps, 1))))
    best, best_epoch, best_state = float("inf"), 0, None
    for epoch in range(EPOCHS):
        fit = train_epoch(model, train_loader, optimizer, schedule)
        losses, _ = evaluate(model, held_loader)
        if losses.mean().item() < best:
            best, best_epoch = losses.mean().item(), epoch
            best_state = {k: v.clone() for k, v in model.state_dict().items()}
        if epoch - best_epoch > PATIENCE:
            break
    model.load_state_dict(best_state)
    losses, coverage = evaluate(model, held_loader)
    print(f"train pinball {fit:.4f}  best held-out {best:.4f} at epoch {best_epoch}")
    for q, loss in zip(QUANTILES, losses.tolist()):
        print(f"  quantile {q:.1f}: {loss:.4f}")
    print(f"coverage of the 80% band {coverage:.3f}")


if __name__ == "__main__":
    main()
