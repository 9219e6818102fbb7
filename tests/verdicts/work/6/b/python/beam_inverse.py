"""Recovers the stiffness profile of a beam from measured deflections.

The equation is discretised with finite differences and solved by integration; a
hand-written adjoint carries gradients back to the stiffness, which a small
network represents.  Adam warms up, L-BFGS finishes.
"""
import math

import torch
from torch import nn

NODES = 1601
LOADS = 24
FEATURES = 24
ADAM_STEPS = 700
LBFGS_STEPS = 200


def deflection(stiffness, load):
    """u of -(k u')' = f on unit cells, u = 0 at both ends: the flux is integrated, then the slope."""
    flux = torch.cat([torch.zeros(1, load.shape[1], dtype=load.dtype), load.cumsum(dim=0)])
    compliance = stiffness.reciprocal()[:, None]
    reaction = (flux * compliance).sum(dim=0) / compliance.sum()
    return ((reaction - flux) * compliance).cumsum(dim=0)[:-1]


def slopes(u):
    edge = torch.zeros(1, u.shape[1], dtype=u.dtype)
    return torch.diff(torch.cat([edge, u, edge]), dim=0)


class BeamSolve(torch.autograd.Function):
    """Deflections under many loads; stiffness lives on the cells."""

    @staticmethod
    def forward(ctx, stiffness, load):
        u = deflection(stiffness, load)
        ctx.save_for_backward(stiffness, u)
        return u

    @staticmethod
    def backward(ctx, grad):
        stiffness, u = ctx.saved_tensors
        adjoint = deflection(stiffness, grad)
        return -(slopes(u) * slopes(adjoint)).sum(dim=1), None


def fourier_basis(x, features):
    frequency = torch.arange(1, features + 1, dtype=x.dtype) * math.pi
    phase = x[:, None] * frequency
    return torch.cat([phase.sin(), phase.cos()], dim=1) / frequency.repeat(2).sqrt()


class Profile(nn.Module):
    """Positive stiffness as a function of the position, given by its Fourier basis."""

    def __init__(self, features, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * features, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
                                 nn.Linear(width, 1)).double()

    def forward(self, basis):
        return nn.functional.softplus(self.net(basis).squeeze(1) + 1.0) + 0.05


def true_stiffness(x):
    return 1.0 + 0.5 * torch.sin(5 * x) + 0.6 * torch.exp(-((x - 0.7) / 0.08) ** 2) - 0.4 * torch.sigmoid((x - 0.35) * 60)


def main():
    torch.manual_seed(6)
    h = 1.0 / (NODES - 1)
    nodes = torch.linspace(0, 1, NODES, dtype=torch.float64)
    cells = (nodes[:-1] + nodes[1:]) / 2
    centres = torch.linspace(0.08, 0.92, LOADS, dtype=torch.float64)
    load = torch.exp(-((nodes[1:-1, None] - centres) / 0.04) ** 2) * h * h / 0.07
    truth = true_stiffness(cells)
    measured = BeamSolve.apply(truth, load)
    scale = measured.abs().mean()
    measured = measured + 2e-4 * scale * torch.randn(measured.shape, dtype=torch.float64)

    profile = Profile(FEATURES)
    basis = fourier_basis(cells, FEATURES)

    def misfit():
        k = profile(basis)
        error = (BeamSolve.apply(k, load) - measured) / scale
        smoothness = torch.diff(k).square().sum() * len(k)
        return error.square().mean() + 1e-7 * smoothness

    adam = torch.optim.Adam(profile.parameters(), lr=4e-3)
    for _ in range(ADAM_STEPS):
        adam.zero_grad(set_to_none=True)
        loss = misfit()
        loss.backward()
        adam.step()
    warm = loss.item()

    lbfgs = torch.optim.LBFGS(profile.parameters(), max_iter=LBFGS_STEPS, history_size=20, line_search_fn="strong_wolfe")

    def closure():
        lbfgs.zero_grad(set_to_none=True)
        value = misfit()
        value.backward()
        return value

    lbfgs.step(closure)
    with torch.no_grad():
        final = misfit().item()
        error = ((profile(basis) - truth).abs() / truth)
    print(f"misfit after Adam {warm:.3e}, after L-BFGS {final:.3e}")
    print(f"stiffness error: mean {100 * error.mean():.2f}%  largest {100 * error.max():.2f}%")


if __name__ == "__main__":
    main()
