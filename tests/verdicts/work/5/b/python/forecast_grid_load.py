"""Backtests a recurrent load forecaster over rolling weekly origins.

One GRU is trained over all substations at once; every origin then forecasts
the next day for the whole fleet in one batch.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

SUBSTATIONS = 64
DAYS = 120
HISTORY = 24 * 7
HORIZON = 24
FEATURES = 6
HIDDEN = 64
STEPS = 45
BATCH = 48


def synthesise(gen):
    hours = torch.arange(DAYS * 24)
    day = hours / 24
    size = 5 + 20 * torch.rand(SUBSTATIONS, 1, generator=gen)
    shift = 2 * torch.rand(SUBSTATIONS, 1, generator=gen)
    daily = 1 + 0.35 * torch.sin(2 * math.pi * (hours - 8 - shift) / 24)
    evening = 0.25 * torch.exp(-0.5 * (((hours % 24) - 19 - shift) / 1.8) ** 2)
    weekly = torch.where((day.long() % 7) >= 5, 0.85, 1.0)
    temperature = 12 + 9 * torch.sin(2 * math.pi * day / 365) + torch.cumsum(
        0.25 * torch.randn(DAYS * 24, generator=gen), 0).clamp(-12, 12)
    heating = 0.012 * (16 - temperature).clamp(min=0)
    noise = 0.03 * torch.randn(SUBSTATIONS, DAYS * 24, generator=gen)
    load = size * (weekly * (daily + evening) + heating + noise)
    return load, temperature, hours


def build_features(load, temperature, hours):
    """[substation, hour, feature]; loads are scaled by the substation's mean."""
    scale = load.mean(1, keepdim=True)
    angle = 2 * math.pi * hours / 24
    week = 2 * math.pi * hours / (24 * 7)
    shared = torch.stack([temperature / 20, angle.sin(), angle.cos(), week.sin(), week.cos()], 1)
    x = torch.cat([(load / scale).unsqueeze(2),
                   shared.unsqueeze(0).expand(SUBSTATIONS, -1, -1)], 2)
    return x.contiguous(), scale


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.GRU(FEATURES, HIDDEN, num_layers=2, batch_first=True)
        self.decoder = nn.Sequential(nn.Linear(HIDDEN + HORIZON * (FEATURES - 1), 128), nn.ReLU(),
                                     nn.Linear(128, HORIZON * 3))

    def forward(self, past, future):
        _, state = self.encoder(past)
        joined = torch.cat([state[-1], future.flatten(1)], 1)
        return self.decoder(joined).view(-1, HORIZON, 3)


QUANTILES = torch.tensor([0.1, 0.5, 0.9])


def pinball(prediction, actual):
    error = actual.unsqueeze(-1) - prediction
    return torch.maximum(QUANTILES * error, (QUANTILES - 1) * error).mean()


def window(x, rows, starts):
    index = starts.unsqueeze(1) + torch.arange(HISTORY + HORIZON)
    part = x[rows.unsqueeze(1), index]
    return part[:, :HISTORY], part[:, HISTORY:, 1:], part[:, HISTORY:, 0]


def train(model, x, last, gen):
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    losses = []
    for step in range(STEPS):
        rows = torch.randint(SUBSTATIONS, (BATCH,), generator=gen)
        starts = torch.randint(last - HISTORY - HORIZON, (BATCH,), generator=gen)
        past, future, actual = window(x, rows, starts)
        loss = pinball(model(past, future), actual)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.detach())
    return torch.stack(losses)


@torch.inference_mode()
def backtest(model, x, scale, first):
    rows = torch.arange(SUBSTATIONS)
    absolute = energy = inside = count = 0.0
    for origin in range(first, x.shape[1] - HORIZON, 24):
        starts = torch.full((SUBSTATIONS,), origin - HISTORY)
        past, future, actual = window(x, rows, starts)
        low, mid, high = model(past, future).unbind(-1)
        absolute += ((mid - actual).abs() * scale).sum().item()
        energy += (actual * scale).sum().item()
        inside += ((actual >= low) & (actual <= high)).sum().item()
        count += actual.numel()
    return absolute / energy, inside / count


def main():
    torch.manual_seed(12)
    gen = torch.Generator().manual_seed(34)
    load, temperature, hours = synthesise(gen)
    x, scale = build_features(load, temperature, hours)
    split = (DAYS - 20) * 24
    model = Forecaster()
    losses = train(model, x, split, gen)
    print(f"pinball loss {losses[:10].mean():.4f} -> {losses[-10:].mean():.4f}")
    wape, coverage = backtest(model, x, scale, split)
    print(f"backtest of {SUBSTATIONS} substations: WAPE {wape:.1%}, coverage of 80% band {coverage:.1%}")


if __name__ == "__main__":
    main()
