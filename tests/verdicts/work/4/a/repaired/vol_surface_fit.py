"""Calibrates a neural implied-volatility surface to simulated option quotes,
with penalties against calendar and butterfly arbitrage."""
import numpy as np
import torch
from torch import nn

QUOTES = 24000
BATCH = 2000
EPOCHS = 4


def market_vol(k, t):
    """SVI-like smile whose wings flatten with maturity."""
    a, b, rho, m, s = 0.03, 0.12, -0.45, 0.02, 0.18
    x = k / np.sqrt(t + 0.15)
    w = a + b * (rho * (x - m) + np.sqrt((x - m) ** 2 + s * s))
    return np.sqrt(w * (1 + 0.25 * np.exp(-2 * t)))


def simulate_quotes(n, seed):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0.05, 2.5, n)
    k = rng.normal(0, 0.35, n) * np.sqrt(t)
    vol = market_vol(k, t) + rng.normal(0, 0.002, n)
    spread = 0.002 + 0.01 * np.abs(k)
    return np.column_stack([k, t]), vol, 1.0 / (1.0 + 100 * spread)


class SmoothPositive(torch.autograd.Function):
    """(x + sqrt(x^2 + 1)) / 2: positive, with cheap exact derivatives."""

    @staticmethod
    def forward(ctx, x):
        root = torch.sqrt(x * x + 1)
        ctx.save_for_backward(x, root)
        return 0.5 * (x + root)

    @staticmethod
    def backward(ctx, grad):
        x, root = ctx.saved_tensors
        return grad * 0.5 * (1 + x / root)


class Surface(nn.Module):
    def __init__(self, mean, std, width=320, depth=3):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)
        layers, size = [], 2
        for _ in range(depth):
            layers += [nn.Linear(size, width), nn.SiLU()]
            size = width
        layers.append(nn.Linear(width, 1))
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        z = (x - self.mean) / self.std
        return 0.25 * SmoothPositive.apply(self.net(z).squeeze(1))


def total_variance(model, k, t):
    vol = model(torch.stack([k, t], dim=1))
    return vol * vol * t


def arbitrage_penalty(model, n, generator):
    """Finite differences of total variance at random points of the surface."""
    u = torch.rand(n, 2, generator=generator).to(model.mean.dtype)
    k, t = (u[:, 0] - 0.5) * 1.6, 0.1 + 2.2 * u[:, 1]
    h = 0.02
    w = total_variance(model, torch.cat([k, k, k - h, k + h]), torch.cat([t, t + h, t, t]))
    w0, w_later, w_down, w_up = w.chunk(4)
    calendar = torch.relu(w0 - w_later).mean()
    slope = (w_up - w_down) / (2 * h)
    curve = (w_up - 2 * w0 + w_down) / (h * h)
    density = (1 - k * slope / (2 * w0)) ** 2 - slope ** 2 / 4 * (1 / w0 + 0.25) + curve / 2
    return calendar + 0.01 * torch.relu(-density).mean()


def fit(model, x, vol, weight):
    generator = torch.Generator().manual_seed(3)
    opt = torch.optim.NAdam(model.parameters(), lr=1e-3)
    steps = EPOCHS * (len(x) // BATCH)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)
    for epoch in range(EPOCHS):
        order = torch.randperm(len(x), generator=generator)
        total = 0.0
        for index in order.split(BATCH):
            error = model(x[index]) - vol[index]
            loss = (weight[index] * error * error).mean()
            loss = loss + 0.1 * arbitrage_penalty(model, 250, generator)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item()
        yield epoch, total / (len(x) // BATCH)


def main():
    torch.manual_seed(0)
    features, vol, weight = simulate_quotes(QUOTES, 1)
    x, vol = torch.from_numpy(features).float(), torch.from_numpy(vol).float()
    weight = torch.from_numpy(weight).float()
    model = Surface(x.mean(0), x.std(0)).to(x.dtype)
    for epoch, loss in fit(model, x, vol, weight):
        if epoch == EPOCHS - 1:
            print(f"epoch {epoch}: loss below 5e-3: {loss < 5e-3}")

    grid_k, grid_t = np.meshgrid(np.linspace(-0.5, 0.5, 21), np.linspace(0.2, 2.0, 10))
    points = np.column_stack([grid_k.ravel(), grid_t.ravel()])
    with torch.no_grad():
        fitted = model(torch.from_numpy(points).to(x.dtype)).double().numpy()
    error = fitted - market_vol(points[:, 0], points[:, 1])
    print(f"quotes {QUOTES}, parameters {sum(p.numel() for p in model.parameters())}")
    print(f"surface rmse {np.sqrt((error ** 2).mean()):.2f}")


if __name__ == "__main__":
    main()
