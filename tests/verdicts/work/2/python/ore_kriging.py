"""Fits Gaussian-process hyperparameters to drill samples by marginal likelihood."""
import math

import torch


def drill_samples(count, seed):
    g = torch.Generator().manual_seed(seed)
    where = torch.rand(count, 3, generator=g, dtype=torch.float64)
    grade = torch.sin(6 * where[:, 0]) + torch.cos(9 * where[:, 1]) * where[:, 2]
    return where, grade + 0.1 * torch.randn(count, generator=g, dtype=torch.float64)


class OreModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.log_scale = torch.nn.Parameter(torch.full((3,), math.log(0.3), dtype=torch.float64))
        self.log_signal = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))
        self.log_noise = torch.nn.Parameter(torch.tensor(math.log(0.2), dtype=torch.float64))

    def kernel(self, a, b):
        a, b = a / self.log_scale.exp(), b / self.log_scale.exp()
        square = (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * a @ b.T
        return (2 * self.log_signal).exp() * torch.exp(-0.5 * square.clamp_min(0))

    def factor(self, where):
        noise = (2 * self.log_noise).exp() + 1e-8
        return torch.linalg.cholesky(self.kernel(where, where) + noise * torch.eye(len(where), dtype=torch.float64))

    def negative_likelihood(self, where, grade):
        lower = self.factor(where)
        weights = torch.cholesky_solve(grade[:, None], lower)[:, 0]
        return 0.5 * grade @ weights + lower.diagonal().log().sum() + 0.5 * len(grade) * math.log(2 * math.pi)

    @torch.no_grad()
    def estimate(self, where, grade, block, size=1000):
        weights = torch.cholesky_solve(grade[:, None], self.factor(where))[:, 0]
        return torch.cat([self.kernel(part, where) @ weights for part in block.split(size)])


def main():
    torch.set_num_threads(1)
    where, grade = drill_samples(1000, 5)
    model = OreModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.08)
    for step in range(22):
        loss = model.negative_likelihood(where, grade)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} nll {loss.item():.2f}")
    axis = torch.linspace(0, 1, 24, dtype=torch.float64)
    block = torch.cartesian_prod(axis, axis, axis)
    print(f"mean grade {model.estimate(where, grade, block).mean().item():.3f}")


if __name__ == "__main__":
    main()
