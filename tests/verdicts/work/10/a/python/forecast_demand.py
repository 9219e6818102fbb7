"""Quantile forecast of hourly electricity demand: a GRU encoder with a pinball
loss that has its own backward, trained on windows of several substations."""
import math

import torch
from torch import nn

SERIES = 24
HOURS = 24 * 7 * 16
CONTEXT = 96
HORIZON = 12
BATCH = 128
STEPS = 72
QUANTILES = (0.1, 0.5, 0.9)


class Pinball(torch.autograd.Function):
    """Mean pinball loss of several quantiles.  The gradient needs only the sign
    of the error, so one boolean mask is kept for the backward pass."""

    @staticmethod
    def forward(ctx, forecast, target, quantiles):
        error = target.unsqueeze(-1) - forecast
        over = error < 0
        ctx.save_for_backward(over, quantiles)
        return torch.where(over, (quantiles - 1) * error, quantiles * error).mean()

    @staticmethod
    def backward(ctx, grad):
        over, quantiles = ctx.saved_tensors
        slope = (over.to(quantiles.dtype) - quantiles) * (grad / over.numel())
        return slope, None, None


class Forecaster(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.station = nn.Embedding(SERIES, 8)
        self.encoder = nn.GRU(3, width, num_layers=2, batch_first=True)
        self.head = nn.Sequential(nn.Linear(width + 8, 96), nn.SiLU(), nn.Linear(96, HORIZON * len(QUANTILES)))

    def forward(self, window, station):
        _, state = self.encoder(window)
        out = self.head(torch.cat([state[-1], self.station(station)], dim=1))
        return out.view(-1, HORIZON, len(QUANTILES))


def synth_demand(seed):
    gen = torch.Generator().manual_seed(seed)
    t = torch.arange(HOURS, dtype=torch.float32)
    level = 1.0 + torch.rand(SERIES, 1, generator=gen)
    daily = torch.sin(2 * math.pi * (t / 24 + torch.rand(SERIES, 1, generator=gen)))
    half = 0.4 * torch.sin(4 * math.pi * (t / 24 + torch.rand(SERIES, 1, generator=gen)))
    weekend = ((t // 24) % 7 >= 5).float() * -0.6
    shocks = torch.randn(SERIES, HOURS, generator=gen)
    noise = torch.nn.functional.conv1d(shocks.unsqueeze(1), 0.7 ** torch.arange(11.0).view(1, 1, -1), padding=5).squeeze(1)
    return level * (daily + half) + weekend + 0.15 * noise


class WindowSampler:
    """Gathers random windows from all series with one indexing operation."""

    def __init__(self, demand, first, last, seed):
        self.demand = demand
        hours = torch.arange(HOURS, dtype=torch.float32)
        self.calendar = torch.stack([torch.sin(2 * math.pi * hours / 24), ((hours // 24) % 7 >= 5).float()], dim=1)
        self.first, self.last = first, last - CONTEXT - HORIZON
        self.gen = torch.Generator().manual_seed(seed)
        self.reach = torch.arange(CONTEXT + HORIZON)

    def batch(self, count):
        station = torch.randint(SERIES, (count,), generator=self.gen)
        start = torch.randint(self.first, self.last, (count,), generator=self.gen)
        hours = start[:, None] + self.reach
        values = self.demand[station[:, None], hours]
        window = torch.cat([values[:, :CONTEXT, None], self.calendar[hours[:, :CONTEXT]]], dim=2)
        return window, station, values[:, CONTEXT:]


def coverage(model, sampler, quantiles, batches=4):
    model.eval()
    losses, inside = [], []
    with torch.inference_mode():
        for _ in range(batches):
            window, station, target = sampler.batch(BATCH)
            forecast = model(window, station)
            losses.append(Pinball.apply(forecast, target, quantiles))
            inside.append(((target >= forecast[..., 0]) & (target <= forecast[..., 2])).float().mean())
    return float(torch.stack(losses).mean()), float(torch.stack(inside).mean())


def main():
    torch.manual_seed(20)
    demand = synth_demand(3)
    split = HOURS * 3 // 4
    sampler = WindowSampler(demand, 0, split, 4)
    quantiles = torch.tensor(QUANTILES)
    model = Forecaster()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3, alpha=0.95, momentum=0.5)
    losses = []
    model.train()
    for step in range(STEPS):
        window, station, target = sampler.batch(BATCH)
        loss = Pinball.apply(model(window, station), target, quantiles)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    loss, inside = coverage(model, WindowSampler(demand, split, HOURS, 5), quantiles)
    print(f"training loss {torch.stack(losses[-20:]).mean():.4f}, held-out loss {loss:.4f}, 80% interval covers {inside:.3f}")


if __name__ == "__main__":
    main()
