"""Functional training with private gradients: the gradient of each sample is clipped by itself.

Planted: the gradients come from a loop over the samples, and not from vmap.
Truth: time of this loop, of the training loop.
"""
import torch
from torch.func import functional_call, grad

from stopwatch import Stopwatch

SAMPLES = 10


class Public(torch.nn.Module):
    """Features that were learned from public data."""
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(500, 700), torch.nn.ReLU(), torch.nn.Linear(700, 40))

    def forward(self, recipes):
        return self.layers(recipes)


def main():
    torch.manual_seed(7)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(40, 48), torch.nn.Tanh(), torch.nn.Linear(48, 3))
    public = Public()
    weights = {name: each.detach() for name, each in model.named_parameters()}
    recipes, kinds = torch.rand(3000, 500), torch.randint(3, (3000,))
    watch = Stopwatch()

    def loss(weights, sample, kind):
        return torch.nn.functional.cross_entropy(functional_call(model, weights, (sample[None],)), kind[None])

    grad(loss)(weights, torch.rand(40), kinds[0])
    with watch.loop():
        while watch.seconds() < 5:
            with torch.no_grad():
                features = public(recipes)
            with watch.planted():
                sums = {name: torch.zeros_like(each) for name, each in weights.items()}
                for sample, kind in zip(features[:SAMPLES], kinds[:SAMPLES]):
                    slopes = grad(loss)(weights, sample, kind)
                    norm = torch.sqrt(sum(each.pow(2).sum() for each in slopes.values()))
                    for name, each in slopes.items():
                        sums[name] += each / norm.clamp(min=1)
            weights = {name: each - 0.01 * sums[name] / SAMPLES for name, each in weights.items()}
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
