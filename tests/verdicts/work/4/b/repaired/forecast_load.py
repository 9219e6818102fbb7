"""Day-ahead load forecast for a set of substations: a GRU over the last days
with calendar features and a learned profile per substation."""
import math
import os
import tempfile

import torch
import torch.nn.functional as F
from torch import nn

SITES = 4000
HOURS = 24 * 14
CONTEXT, AHEAD = 48, 24
BATCH = 64
STEPS = 180
EVERY = 6
QUANTILES = torch.tensor([0.1, 0.5, 0.9])


def make_load(seed=14):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(HOURS).float()
    base = 0.6 + torch.rand(SITES, 1, generator=g)
    peak = 8 + 10 * torch.rand(SITES, 1, generator=g)
    day = torch.exp(-0.5 * (((t % 24) - peak) / 3.5) ** 2)
    weekend = 1 - 0.25 * ((t // 24) % 7 >= 5).float() * torch.rand(SITES, 1, generator=g)
    noise = torch.zeros(SITES, HOURS)
    shock = 0.05 * torch.randn(SITES, HOURS, generator=g)
    for h in range(1, HOURS):
        noise[:, h] = 0.85 * noise[:, h - 1] + shock[:, h]
    return base * (0.4 + day) * weekend + noise


def calendar():
    t = torch.arange(HOURS).float()
    hour, week = 2 * math.pi * t / 24, 2 * math.pi * t / 168
    return torch.stack([hour.sin(), hour.cos(), week.sin(), week.cos()], 1)


class Forecaster(nn.Module):
    def __init__(self, hidden=64, site_dim=64):
        super().__init__()
        self.site = nn.Embedding(SITES, site_dim)
        self.encoder = nn.GRU(5, hidden, batch_first=True)
        self.mix = nn.Linear(hidden + site_dim, 2 * hidden)
        self.out = nn.Linear(2 * hidden + 4, 3)

    def forward(self, site, past, past_cal, next_cal):
        x = torch.cat([past.unsqueeze(2), past_cal], 2)
        _, h = self.encoder(x)
        state = torch.relu(self.mix(torch.cat([h[-1], self.site(site)], 1)))
        state = state.unsqueeze(1).expand(-1, AHEAD, -1)
        return past[:, -24:, None] + self.out(torch.cat([state, next_cal], 2))


class Windows:
    """Random windows before the split hour for training, fixed ones after it."""

    def __init__(self, load, cal, seed):
        self.load, self.cal = load, cal
        self.split = HOURS - 72
        self.g = torch.Generator().manual_seed(seed)

    def cut(self, site, start):
        past = start[:, None] + torch.arange(CONTEXT)
        ahead = start[:, None] + CONTEXT + torch.arange(AHEAD)
        rows = site[:, None]
        return (site, self.load[rows, past], self.cal[past], self.cal[ahead]), self.load[rows, ahead]

    def train_batch(self):
        site = torch.randint(0, SITES, (BATCH,), generator=self.g)
        start = torch.randint(0, self.split - CONTEXT - AHEAD, (BATCH,), generator=self.g)
        return self.cut(site, start)

    def valid_batches(self):
        for site in torch.arange(0, SITES, 4).split(500):
            yield self.cut(site, torch.full_like(site, HOURS - CONTEXT - AHEAD))


def pinball(pred, actual):
    error = actual.unsqueeze(2) - pred
    return torch.maximum(QUANTILES * error, (QUANTILES - 1) * error).mean()


class Checkpoints:
    """Keeps the newest training state, so that a lost job can go on."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "last.pt")
        self.written = 0

    def save(self, model, optimizer, step):
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
        partial = self.path + ".tmp"
        torch.save(state, partial)
        os.replace(partial, self.path)
        self.written += 1

    def load(self):
        return torch.load(self.path)


@torch.inference_mode()
def validate(model, windows):
    model.eval()
    loss = covered = count = 0.0
    for inputs, actual in windows.valid_batches():
        pred = model(*inputs)
        loss += pinball(pred, actual).item() * len(actual)
        inside = (actual >= pred[..., 0]) & (actual <= pred[..., 2])
        covered += inside.float().mean().item() * len(actual)
        count += len(actual)
    model.train()
    return loss / count, covered / count


def train(folder):
    torch.manual_seed(33)
    windows = Windows(make_load(), calendar(), 2)
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    keep = Checkpoints(folder)
    for step in range(1, STEPS + 1):
        inputs, actual = windows.train_batch()
        loss = pinball(model(*inputs), actual)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % EVERY == 0:
            keep.save(model, optimizer, step)
        if step % 60 == 0:
            loss, covered = validate(model, windows)
            print(f"step {step} pinball {loss:.4f} coverage {covered:.3f}")
    restored = keep.load()
    print(f"{keep.written} checkpoints, newest at step {restored['step']}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        train(folder)
