"""Private training of a small network on strengths of spider silk, with torch.func.

Planted: the gradient of each sample is computed by a call of its own, in a Python loop.
Truth: time of the gradients of single samples, as a share of the loop.
"""
import torch
from torch.func import functional_call, grad
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(7)
    watch = Stopwatch()
    backbone = nn.Sequential(nn.Linear(600, 1800), nn.ReLU(), nn.Linear(1800, 1800), nn.ReLU(), nn.Linear(1800, 32)).requires_grad_(False)
    head = nn.Sequential(nn.Linear(32, 48), nn.Tanh(), nn.Linear(48, 1))
    weights = {name: value.detach() for name, value in head.named_parameters()}

    def loss(weights, traits, strength):
        return (functional_call(head, weights, traits) - strength).square().mean()

    one_gradient = grad(loss)
    optimizer = torch.optim.SGD([torch.nn.Parameter(value) for value in weights.values()], lr=0.01)
    silk = torch.randn(3072, 600)
    with watch.loop():
        for number in range(100000):
            batch = silk[number % 4 * 768:][:768]
            with torch.no_grad():
                traits = backbone(batch)
            with watch.planted():
                for at in range(0, 24):
                    gradients = one_gradient(weights, traits[at], batch[at, :1])
                    scale = min(1.0, 1.0 / float(sum(value.square().sum() for value in gradients.values()).sqrt() + 1e-6))
                    for parameter, value in zip(optimizer.param_groups[0]["params"], gradients.values()):
                        parameter.grad = value * scale if at == 0 else parameter.grad + value * scale
            optimizer.step()
            weights = {name: parameter.detach() for name, parameter in zip(weights, optimizer.param_groups[0]["params"])}
            watch.step()
            if watch.seconds() > 6:
                break
    watch.tell()


if __name__ == "__main__":
    main()
