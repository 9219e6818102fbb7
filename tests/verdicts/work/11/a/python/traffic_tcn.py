"""Forecasts the traffic of road sensors for the coming hours.

A temporal convolutional network sees one week of hourly counts of a sensor, with the time
of day and of week, and predicts the next half day, with quantiles."""
import math

import torch
from torch import nn
from torch.nn import functional as F

SENSORS = 60
HOURS = 24 * 7 * 16
CONTEXT = 24 * 7
HORIZON = 12
CHANNELS = 40
BATCH = 32
STEPS = 80
QUANTILES = (0.1, 0.5, 0.9)


def make_counts(generator):
    """Hourly counts per sensor: two rush hours, quiet weekends, slow drift, incidents."""
    hour = torch.arange(HOURS)
    day_hour, day = hour % 24, hour // 24 % 7
    scale = 200 + 800 * torch.rand(SENSORS, 1, generator=generator)
    morning = torch.exp(-((day_hour - 8.0) / 2.0) ** 2)
    evening = torch.exp(-((day_hour - 17.5) / 2.5) ** 2)
    balance = torch.rand(SENSORS, 1, generator=generator)
    weekend = torch.where(day >= 5, 0.45, 1.0)
    shape = 0.15 + balance * morning + (1 - balance) * evening
    drift = torch.randn(SENSORS, HOURS, generator=generator).cumsum(dim=1) * 0.004
    incident = torch.where(torch.rand(SENSORS, HOURS, generator=generator) < 0.002, 0.4, 1.0)
    noise = 1 + 0.08 * torch.randn(SENSORS, HOURS, generator=generator)
    return scale * shape * weekend * drift.exp() * incident * noise


def time_features():
    hour = torch.arange(HOURS)
    day, week = 2 * math.pi * hour / 24, 2 * math.pi * hour / (24 * 7)
    return torch.stack([day.sin(), day.cos(), week.sin(), week.cos()])


class CausalBlock(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.left = 2 * dilation
        self.conv1 = nn.Conv1d(channels, channels, 3, dilation=dilation)
        self.conv2 = nn.Conv1d(channels, channels, 3, dilation=dilation)

    def forward(self, x):
        y = F.relu(self.conv1(F.pad(x, (self.left, 0))))
        y = self.conv2(F.pad(y, (self.left, 0)))
        return F.relu(x + y)


class TrafficNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(5, CHANNELS, 1)
        self.blocks = nn.Sequential(*[CausalBlock(CHANNELS, 2**n) for n in range(6)])
        self.head = nn.Linear(CHANNELS + 4 * HORIZON, HORIZON * len(QUANTILES))

    def forward(self, counts, past_time, future_time):
        x = torch.cat([counts[:, None], past_time], dim=1)
        last = self.blocks(self.first(x))[:, :, -1]
        out = self.head(torch.cat([last, future_time.flatten(1)], dim=1))
        return out.view(-1, HORIZON, len(QUANTILES))


def pinball(forecast, actual):
    levels = forecast.new_tensor(QUANTILES)
    error = actual[..., None] - forecast
    return torch.maximum(levels * error, (levels - 1) * error).mean()


class Windows:
    """Random windows of the standardized series between two hours."""

    def __init__(self, series, times, begin, end, seed):
        self.contexts = series[:, begin:end].unfold(1, CONTEXT + HORIZON, 1)
        self.times = times[:, begin:end].unfold(1, CONTEXT + HORIZON, 1)
        self.generator = torch.Generator().manual_seed(seed)

    def draw(self, count):
        sensor = torch.randint(0, self.contexts.shape[0], (count,), generator=self.generator)
        start = torch.randint(0, self.contexts.shape[1], (count,), generator=self.generator)
        values = self.contexts[sensor, start]
        times = self.times[:, start].transpose(0, 1)
        return values[:, :CONTEXT], times[..., :CONTEXT], times[..., CONTEXT:], values[:, CONTEXT:]


def train(model, windows):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    running = None
    for _ in range(STEPS):
        *inputs, actual = windows.draw(BATCH)
        loss = pinball(model(*inputs), actual)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        value = loss.item()
        running = value if running is None else 0.95 * running + 0.05 * value
    return running


def main():
    torch.manual_seed(17)
    torch.set_num_threads(1)
    counts = make_counts(torch.Generator().manual_seed(16))
    split = HOURS * 3 // 4
    known = counts[:, :split]
    series = (counts - known.mean(dim=1, keepdim=True)) / known.std(dim=1, keepdim=True)
    model = TrafficNet()
    loss = train(model, Windows(series, time_features(), 0, split, seed=18))
    with torch.no_grad():
        *inputs, actual = Windows(series, time_features(), split, HOURS, seed=19).draw(512)
        forecast = model(*inputs)
    inside = ((actual >= forecast[..., 0]) & (actual <= forecast[..., 2])).float().mean()
    print(f"steps {STEPS}, running loss {loss:.4f}")
    print(f"new weeks: error {(forecast[..., 1] - actual).abs().mean():.4f}, inside the band {inside:.3f}")


if __name__ == "__main__":
    main()
