"""Trains the quantile forecaster for the depots' parcel volumes.

Input are 28 days of history and calendar features, output the 10/50/90 % quantiles
of the next 7 days.  All series fit in memory, so windows are gathered by index.
"""
import argparse
import math

import torch
from torch import nn
from torch.nn import functional as F

HISTORY, HORIZON = 28, 7
QUANTILES = (0.1, 0.5, 0.9)


def make_series(n_depots, n_days, seed):
    g = torch.Generator().manual_seed(seed)
    day = torch.arange(n_days, dtype=torch.float32)
    level = torch.exp(torch.randn(n_depots, 1, generator=g) * 0.6 + 4)
    weekly = 1 + 0.35 * torch.sin(2 * math.pi * (day + torch.randint(7, (n_depots, 1), generator=g)) / 7)
    yearly = 1 + 0.2 * torch.cos(2 * math.pi * (day - 350) / 365)
    noise = torch.exp(0.1 * torch.randn(n_depots, n_days, generator=g))
    return level * weekly * yearly * noise


class WindowSampler:
    """Serves batches of windows; values are logs relative to the window's mean."""

    def __init__(self, series, first_day, last_day):
        self.log_series = series.log()
        self.first_day, self.last_day = first_day, last_day
        day = torch.arange(series.shape[1], dtype=torch.float32)
        angles = torch.stack([2 * math.pi * day / 7, 2 * math.pi * day / 365])
        self.calendar = torch.cat([angles.sin(), angles.cos()])
        self.offsets = torch.arange(HISTORY + HORIZON)

    def gather(self, depots, starts):
        days = starts[:, None] + self.offsets
        values = self.log_series[depots[:, None], days]
        past, future = values.split([HISTORY, HORIZON], dim=1)
        center = past.mean(1, keepdim=True)
        calendar = self.calendar[:, days].transpose(0, 1)
        return past - center, calendar, future - center

    def random_batch(self, size, generator):
        depots = torch.randint(len(self.log_series), (size,), generator=generator)
        last_start = self.last_day - HISTORY - HORIZON
        starts = torch.randint(self.first_day, last_start + 1, (size,), generator=generator)
        return self.gather(depots, starts)

    def all_windows(self, stride, size):
        starts = torch.arange(self.first_day, self.last_day - HISTORY - HORIZON + 1, stride)
        depots = torch.arange(len(self.log_series))
        grid = torch.cartesian_prod(depots, starts)
        for chunk in grid.split(size):
            yield self.gather(chunk[:, 0], chunk[:, 1])


class CausalBlock(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.conv = nn.Conv1d(channels, channels, 3, dilation=dilation)
        self.mix = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        h = F.gelu(self.conv(F.pad(x, (self.pad, 0))))
        return x + self.mix(h)


class Forecaster(nn.Module):
    def __init__(self, channels=48):
        super().__init__()
        self.enter = nn.Conv1d(1 + 4, channels, 1)
        self.blocks = nn.Sequential(*(CausalBlock(channels, d) for d in (1, 2, 4, 8)))
        self.head = nn.Sequential(
            nn.Linear(channels + 4 * HORIZON, 128), nn.GELU(), nn.Linear(128, HORIZON * len(QUANTILES))
        )

    def forward(self, past, calendar):
        known, ahead = calendar.split([HISTORY, HORIZON], dim=2)
        h = self.blocks(self.enter(torch.cat([past.unsqueeze(1), known], dim=1)))
        out = self.head(torch.cat([h[:, :, -1], ahead.flatten(1)], dim=1))
        return out.view(len(past), HORIZON, len(QUANTILES))


class PinballLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("q", torch.tensor(QUANTILES))

    def forward(self, forecast, actual):
        diff = actual.unsqueeze(2) - forecast
        return torch.maximum(self.q * diff, (self.q - 1) * diff).mean()


def train(model, sampler, steps, batch_size):
    criterion = PinballLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-4, foreach=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=steps)
    generator = torch.Generator().manual_seed(11)
    running = torch.zeros(())
    model.train()
    for step in range(steps):
        past, calendar, future = sampler.random_batch(batch_size, generator)
        loss = criterion(model(past, calendar), future)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        running.lerp_(loss.detach(), 0.05)
        if (step + 1) % 35 == 0:
            print(f"step {step + 1:4d}  loss {running.item():.4f}")


@torch.inference_mode()
def backtest(model, sampler):
    criterion = PinballLoss()
    model.eval()
    loss = torch.zeros(())
    inside, n = torch.zeros(()), 0
    for past, calendar, future in sampler.all_windows(stride=7, size=2048):
        forecast = model(past, calendar)
        loss += criterion(forecast, future) * len(past)
        inside += ((future >= forecast[..., 0]) & (future <= forecast[..., 2])).float().mean() * len(past)
        n += len(past)
    return loss.item() / n, inside.item() / n


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=140)
    parser.add_argument("--batch-size", type=int, default=192)
    args = parser.parse_args()

    torch.manual_seed(0)
    series = make_series(500, 900, seed=1)
    model = Forecaster()
    train(model, WindowSampler(series, 0, 720), args.steps, args.batch_size)
    loss, coverage = backtest(model, WindowSampler(series, 720, 900))
    print(f"backtest pinball {loss:.4f}  coverage of 80 % band {coverage:.3f}")


if __name__ == "__main__":
    main()
