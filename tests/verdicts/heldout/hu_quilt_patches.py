"""Sorts quilts by their maker: a mixer over patches in which each of forty stages has scales, shifts and small gates of its own.

Planted: an optimizer of its own goes through more than three hundred parameters one by one, with a dozen small operations for each.
Truth: time in the optimizer's loop over the parameters, of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

PATCHES, WIDTH, STAGES, MAKERS = 16, 80, 40, 6


class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.along, self.across = nn.Linear(PATCHES, PATCHES), nn.Linear(WIDTH, WIDTH)
        self.scale, self.shift = nn.Parameter(torch.ones(WIDTH)), nn.Parameter(torch.zeros(WIDTH))
        self.gate, self.open = nn.Parameter(torch.full((PATCHES, 1), 0.1)), nn.Parameter(torch.full((WIDTH,), 0.1))

    def forward(self, quilt):
        mixed = self.along((quilt * self.scale + self.shift).transpose(1, 2)).transpose(1, 2)
        quilt = quilt + self.gate * mixed
        return quilt + self.open * torch.relu(self.across(quilt))


class Cautious(torch.optim.Optimizer):
    """Signs of two moments, with decay, only where the gradient agrees."""

    def __init__(self, parameters, watch, lr=2e-5, fast=0.9, slow=0.99, decay=0.01):
        super().__init__(parameters, {"lr": lr, "fast": fast, "slow": slow, "decay": decay})
        self.watch = watch

    @torch.no_grad()
    def step(self, closure=None):
        with self.watch.planted():
            for group in self.param_groups:
                for parameter in group["params"]:
                    self.one(parameter, group)

    def one(self, parameter, group):
        state = self.state[parameter]
        if not state:
            state["fast"], state["slow"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        grad = parameter.grad
        direction = torch.sign(group["fast"] * state["fast"] + (1 - group["fast"]) * grad)
        agrees = (direction * grad > 0).to(grad.dtype)
        agrees = agrees / agrees.mean().clamp(min=0.1)
        parameter.mul_(1 - group["lr"] * group["decay"])
        parameter.add_(direction * agrees, alpha=-group["lr"])
        state["fast"].mul_(group["fast"]).add_(grad, alpha=1 - group["fast"])
        state["slow"].mul_(group["slow"]).addcmul_(grad, grad, value=1 - group["slow"])


class Quilts(nn.Module):
    def __init__(self):
        super().__init__()
        self.cut, self.stages, self.maker = nn.Linear(48, WIDTH), nn.Sequential(*[Stage() for _ in range(STAGES)]), nn.Linear(WIDTH, MAKERS)

    def forward(self, cloth):
        return self.maker(self.stages(self.cut(cloth)).mean(1))


def main():
    torch.manual_seed(31)
    torch.set_num_threads(1)
    watch, model = Stopwatch(), Quilts()
    optimizer = Cautious(model.parameters(), watch)
    cloth = torch.randn(256, PATCHES, 48)
    maker = cloth.mean(1)[:, :MAKERS].argmax(1)
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            at = slice(number % 8 * 32, number % 8 * 32 + 32)
            loss = nn.functional.cross_entropy(model(cloth[at]), maker[at])
            model.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}, {len(list(model.parameters()))} parameters")
    watch.tell()


main()
