"""Estimates rust on barley leaves from reflectance, a small expert for each of the fields, trained in functions with torch.func.

Planted: the moments and the update of Adam are computed in Python, tensor by tensor, for hundreds of small tensors.
Truth: time of the update, of the loop.
"""
import torch
from torch import nn
from torch.func import functional_call, grad_and_value

from stopwatch import Stopwatch

FIELDS, BANDS, LEAVES = 24, 64, 128
watch = Stopwatch()


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Linear(BANDS, 256)
        self.mix = nn.Linear(256, 256)
        self.rust = nn.Linear(256, 1)

    def forward(self, leaves):
        return self.rust(torch.relu(self.mix(torch.tanh(self.look(leaves)))))


class Farm(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(Expert() for _ in range(FIELDS))

    def forward(self, leaves):
        return torch.cat([expert(part) for expert, part in zip(self.experts, leaves)], dim=1)


def adam(weights, slopes, state, day):
    """The new weights and moments; nothing is changed in place."""
    new, moments = {}, {}
    for name, weight in weights.items():
        first, second = state[name]
        first = 0.9 * first + 0.1 * slopes[name]
        second = 0.99 * second + 0.01 * slopes[name] ** 2
        rate = first / (1 - 0.9 ** day) / ((second / (1 - 0.99 ** day)).sqrt() + 1e-8)
        new[name] = weight - 1e-4 * rate
        moments[name] = first, second
    return new, moments


def main():
    torch.manual_seed(8)
    torch.set_num_threads(1)
    farm = Farm()
    weights = {name: p.detach() for name, p in farm.named_parameters()}
    state = {name: (torch.zeros_like(p), torch.zeros_like(p)) for name, p in weights.items()}

    def wrong(weights, leaves, rust):
        return (functional_call(farm, weights, (leaves,)) - rust).square().mean()

    slope = grad_and_value(wrong)
    with watch.loop():
        for day in range(1, 100000):
            leaves = torch.rand(FIELDS, LEAVES, BANDS)
            rust = leaves.mean(2).T + leaves[:, :, 3].T * leaves[:, :, 9].T
            slopes, loss = slope(weights, leaves, rust)
            with watch.planted():
                weights, state = adam(weights, slopes, state, day)
            watch.step()
            if watch.seconds() > 6:
                break
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
