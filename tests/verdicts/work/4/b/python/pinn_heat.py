"""Physics-informed network for one-dimensional heat conduction with a
temperature-dependent conductivity, fitted to boundary and initial data."""
import math

import torch
from torch import nn

COLLOCATION = 2048
EDGE = 256
STEPS = 300
BASE, SLOPE = 0.05, 0.04


class Network(nn.Module):
    """tanh network on Fourier features; the boundary values are built in."""

    def __init__(self, width=48, depth=4, bands=6):
        super().__init__()
        self.register_buffer("bands", math.pi * torch.arange(1, bands + 1).float())
        layers = [nn.Linear(2 * bands + 1, width), nn.Tanh()]
        for _ in range(depth - 1):
            layers += [nn.Linear(width, width), nn.Tanh()]
        layers.append(nn.Linear(width, 1))
        self.body = nn.Sequential(*layers)

    def forward(self, x, t):
        phase = x * self.bands
        h = self.body(torch.cat([phase.sin(), phase.cos(), 2 * t - 1], 1))
        return x * (1 - x) * h


def initial_profile(x):
    return torch.sin(math.pi * x) + 0.4 * torch.sin(3 * math.pi * x)


def derivative(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


def residual(model, x, t):
    """u_t - d/dx(k(u) du/dx)"""
    x = x.requires_grad_(True)
    t = t.requires_grad_(True)
    u = model(x, t)
    u_x, u_t = torch.autograd.grad(u, (x, t), torch.ones_like(u), create_graph=True)
    flux = (BASE + SLOPE * u) * u_x
    return u_t - derivative(flux, x)


class Sampler:
    """Scrambled Sobol points, so that every step sees an even cover."""

    def __init__(self, seed):
        self.interior = torch.quasirandom.SobolEngine(2, scramble=True, seed=seed)
        self.edge = torch.quasirandom.SobolEngine(1, scramble=True, seed=seed + 1)

    def points(self):
        xt = self.interior.draw(COLLOCATION)
        return xt[:, :1].contiguous(), xt[:, 1:].contiguous()

    def initial(self):
        return self.edge.draw(EDGE)


def reference(cells=100, until=1.0):
    """Explicit finite-volume solution, for the check at the end."""
    dx = 1.0 / cells
    x = (torch.arange(cells, dtype=torch.float64) + 0.5) * dx
    u = initial_profile(x)
    dt = 0.4 * dx * dx / (2 * (BASE + 1.4 * SLOPE))
    steps = math.ceil(until / dt)
    dt = until / steps
    ghost = torch.empty(cells + 2, dtype=torch.float64)
    for _ in range(steps):
        ghost[1:-1] = u
        ghost[0], ghost[-1] = -u[0], -u[-1]
        k = BASE + SLOPE * 0.5 * (ghost[1:] + ghost[:-1])
        flux = k * (ghost[1:] - ghost[:-1]) / dx
        u = u + dt / dx * (flux[1:] - flux[:-1])
    return x.float()[:, None], u.float()[:, None]


def fit(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.01 ** (1 / STEPS))
    sampler = Sampler(31)
    zero = torch.zeros(EDGE, 1)
    for step in range(STEPS):
        x, t = sampler.points()
        x0 = sampler.initial()
        physics = residual(model, x, t).square().mean()
        start = (model(x0, zero) - initial_profile(x0)).square().mean()
        loss = physics + 10 * start
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        if (step + 1) % 100 == 0:
            print(f"step {step + 1} physics {physics.item():.5f} start {start.item():.6f}")


def main():
    torch.manual_seed(8)
    model = Network()
    fit(model)
    x, exact = reference()
    with torch.no_grad():
        got = model(x, torch.ones_like(x))
    error = ((got - exact).norm() / exact.norm()).item()
    print(f"relative error at t=1: {error:.3f}, peak {got.max().item():.3f} of {exact.max().item():.3f}")


if __name__ == "__main__":
    main()
