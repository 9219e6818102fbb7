"""Learns minerals in thin sections of basalt, quarry after quarry, and protects what the last quarry taught (elastic weights).

Planted: the Fisher information is kept up to date from single grains in a Python loop, a torch.func.grad() for each of them,
with operators on one row, in place of one vmap() over the batch.
Truth: time of that loop, of the training loop.
"""
import torch
from torch import nn
from torch.func import functional_call, grad

from stopwatch import Stopwatch

BANDS, MINERALS, BATCH, WITNESSES = 64, 14, 384, 4


class Petrographer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(BANDS, 320)
        self.blocks = nn.ModuleList(nn.Linear(320, 320) for _ in range(3))
        self.norms = nn.ModuleList(nn.LayerNorm(320) for _ in range(3))
        self.name = nn.Linear(320, MINERALS)

    def forward(self, x):
        x = torch.relu(self.first(x))
        for norm, block in zip(self.norms, self.blocks):
            x = x + torch.relu(block(norm(x)))
        return self.name(x)


class ElasticWeights:
    """What the weights were after the last quarry, and how much each of them mattered."""

    def __init__(self, model, strength=20.0):
        self.model, self.strength = model, strength
        self.anchor = {k: p.detach().clone() for k, p in model.named_parameters()}
        self.fisher = {k: torch.zeros_like(p) for k, p in self.anchor.items()}

        def log_likelihood(params, grain, mineral):
            odds = functional_call(model, params, (grain.unsqueeze(0),))
            return torch.log_softmax(odds, 1)[0, mineral]

        self.slope = grad(log_likelihood)

    def witness(self, grains, minerals):
        params = {k: p.detach() for k, p in self.model.named_parameters()}
        for grain, mineral in zip(grains, minerals.tolist()):
            for name, g in self.slope(params, grain, mineral).items():
                self.fisher[name].mul_(0.999).add_(g * g, alpha=0.001)

    def penalty(self):
        terms = [(self.fisher[k] * (p - self.anchor[k]) ** 2).sum() for k, p in self.model.named_parameters()]
        return self.strength * torch.stack(terms).sum()


def quarry(number, generator):
    centres = torch.randn(MINERALS, BANDS, generator=generator) * (1 + 0.1 * number)
    minerals = torch.randint(MINERALS, (4096,), generator=generator)
    return centres[minerals] + torch.randn(4096, BANDS, generator=generator), minerals


def main():
    generator = torch.Generator().manual_seed(2)
    torch.manual_seed(2)
    model = Petrographer()
    memory = ElasticWeights(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    grains, minerals = quarry(0, generator)
    memory.witness(grains[:2], minerals[:2])  # torch.func imports a lot when it is first used
    watch = Stopwatch()
    with watch.loop():
        step = 0
        while watch.seconds() < 6.5:
            if step % 150 == 149:
                grains, minerals = quarry(step // 150, generator)
            rows = torch.arange(step * BATCH, (step + 1) * BATCH) % 4096
            x, y = grains[rows], minerals[rows]
            loss = nn.functional.cross_entropy(model(x), y) + memory.penalty()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optimizer.step()
            with watch.planted():
                memory.witness(x[:WITNESSES], y[:WITNESSES])
            watch.step()
            step += 1
    print(f"{step} steps, loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
