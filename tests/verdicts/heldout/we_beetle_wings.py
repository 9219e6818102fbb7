"""Tells beetles by outlines of their wings: a mixer over points, many small layers, trained with an optimizer from a paper.

Planted: the optimizer goes over 300 small tensors one by one, some twelve operators for each.
Truth: time of the optimizer's step, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

POINTS, WIDTH, KINDS = 64, 64, 30


class Lamb(torch.optim.Optimizer):
    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), decay=0.01):
        super().__init__(parameters, {"lr": lr, "betas": betas, "decay": decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            first, second = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["m"], state["v"] = torch.zeros_like(p), torch.zeros_like(p)
                m, v = state["m"], state["v"]
                m.mul_(first).add_(p.grad, alpha=1 - first)
                v.mul_(second).addcmul_(p.grad, p.grad, value=1 - second)
                update = m / v.sqrt().add_(1e-6) + group["decay"] * p
                size, length = p.norm().clamp(0, 10), update.norm() + 1e-6
                trust = torch.where(size > 0, size / length, torch.ones_like(size))
                p.sub_(update * trust * group["lr"])


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.across = nn.Sequential(nn.LayerNorm(POINTS), nn.Linear(POINTS, POINTS), nn.GELU(), nn.Linear(POINTS, POINTS))
        self.along = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.across(x.transpose(1, 2)).transpose(1, 2)
        return x + self.along(x)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(9)
    wings, kinds = torch.randn(20, 10, POINTS, 2), torch.randint(KINDS, (20, 10))
    lift, body, head = nn.Linear(2, WIDTH), nn.Sequential(*[Mixer() for _ in range(25)]), nn.Linear(WIDTH, KINDS)
    model = nn.ModuleList([lift, body, head])
    optimizer, watch = Lamb(model.parameters()), Stopwatch()
    with watch.loop():
        for number in watch.limited(range(100_000), 6):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(head(body(lift(wings[number % 20])).mean(1)), kinds[number % 20])
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
    watch.tell(loss=round(loss.item(), 3))


if __name__ == "__main__":
    main()
