"""Half-day-ahead forecast of the load of a distribution network's substations.

A GRU encoder reads two days of history, a decoder rolls out the next hours with
attention over the history; trained with a quantile (pinball) loss.
"""
import math

import torch
from torch import nn

torch.autograd.set_detect_anomaly(True)

HOURS = 24 * 7 * 30
SUBSTATIONS = 40
HISTORY = 24 * 2
HORIZON = 12
QUANTILES = (0.1, 0.5, 0.9)


def make_series(generator):
    """Hourly load in MW, temperature in degrees; [substation, hour]."""
    t = torch.arange(HOURS, dtype=torch.float32)
    day, week, year = 2 * math.pi * t / 24, 2 * math.pi * t / 168, 2 * math.pi * t / 8766
    temperature = 11 - 9 * torch.cos(year) - 4 * torch.cos(day - 0.6)
    temperature = temperature + 0.05 * torch.randn(HOURS, generator=generator).cumsum(0)
    scale = 5 + 20 * torch.rand(SUBSTATIONS, 1, generator=generator)
    phase = 0.8 * torch.rand(SUBSTATIONS, 1, generator=generator)
    heating = 0.02 * torch.rand(SUBSTATIONS, 1, generator=generator)
    base = 1 + 0.25 * torch.sin(day - 1.9 - phase) + 0.12 * torch.sin(2 * day - phase)
    weekend = 1 - 0.12 * (torch.sin(week + 0.4) > 0.75).float()
    noise = 0.03 * torch.randn(SUBSTATIONS, HOURS, generator=generator)
    load = scale * (base * weekend + heating * (15 - temperature).clamp(min=0) + noise)
    return load, temperature


def calendar():
    t = torch.arange(HOURS, dtype=torch.float32)
    angles = [2 * math.pi * t / 24, 2 * math.pi * t / 168]
    return torch.stack([f(a) for a in angles for f in (torch.sin, torch.cos)], dim=-1)


class Forecaster(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.encoder = nn.GRU(6, hidden, batch_first=True)
        self.cell = nn.GRUCell(6 + hidden, hidden)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.level = nn.Linear(hidden, 1)
        self.spread = nn.Linear(hidden, 2)

    def forward(self, history, future):
        memory, state = self.encoder(history)
        state = state[0]
        last = history[:, -1, :1]
        out = []
        for h in range(future.shape[1]):
            weights = torch.einsum("bth,bh->bt", memory, self.query(state)) / math.sqrt(memory.shape[-1])
            context = torch.einsum("bt,bth->bh", weights.softmax(-1), memory)
            state = self.cell(torch.cat([last, future[:, h], context], dim=-1), state)
            level = last + self.level(state)
            spread = nn.functional.softplus(self.spread(state))
            out.append(torch.cat([level - spread[:, :1], level, level + spread[:, 1:]], dim=-1))
            last = level
        return torch.stack(out, dim=1)


def pinball(prediction, target):
    loss = 0.0
    for i, q in enumerate(QUANTILES):
        e = target - prediction[..., i]
        loss = loss + torch.maximum(q * e, (q - 1) * e).mean()
    return loss / len(QUANTILES)


class Windows:
    """Draws batches of (history, known future inputs, target) windows."""

    def __init__(self, load, temperature, first, last):
        self.mean, self.std = load.mean(1, keepdim=True), load.std(1, keepdim=True)
        self.load = (load - self.mean) / self.std
        self.inputs = torch.cat([((temperature - 11) / 9)[:, None], calendar()], dim=-1)
        self.first, self.last = first, last

    def at(self, station, start):
        past = start[:, None] + torch.arange(HISTORY)
        coming = start[:, None] + HISTORY + torch.arange(HORIZON)
        history = torch.cat([self.load[station[:, None], past][..., None], self.inputs[past]], dim=-1)
        return history, self.inputs[coming], self.load[station[:, None], coming]

    def draw(self, size, generator):
        station = torch.randint(SUBSTATIONS, (size,), generator=generator)
        start = torch.randint(self.first, self.last - HISTORY - HORIZON, (size,), generator=generator)
        return self.at(station, start)


def main():
    torch.manual_seed(17)
    generator = torch.Generator().manual_seed(17)
    load, temperature = make_series(generator)
    cut = HOURS - 24 * 28
    train = Windows(load, temperature, 0, cut)
    model = Forecaster()
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)

    running = None
    for step in range(1, 33):
        history, future, target = train.draw(24, generator)
        loss = pinball(model(history, future), target)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        running = loss.item() if running is None else 0.8 * running + 0.2 * loss.item()
        if step % 8 == 0:
            print(f"step {step}: pinball {running:.4f}")

    model.eval()
    covered = error = count = 0.0
    with torch.no_grad():
        for day in range(0, 21, 3):
            start = torch.full((SUBSTATIONS,), cut - HISTORY + 24 * day)
            history, future, target = train.at(torch.arange(SUBSTATIONS), start)
            p = model(history, future)
            covered += ((target >= p[..., 0]) & (target <= p[..., 2])).float().mean().item()
            error += (p[..., 1] - target).abs().mean().item()
            count += 1
    print(f"held-out month: coverage of the 80% band {covered / count:.3f}, MAE {error / count:.3f} sigma")


if __name__ == "__main__":
    main()
