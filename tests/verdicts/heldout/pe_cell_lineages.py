"""Into what a stem cell will turn: a deep residual network over the counts of genes, trained with layer-wise learning rates.

Planted: the optimizer was written from the paper: eighteen small operators, one after the other, for each of 200 parameters, two of them with .item().
Truth: time of the optimizer's step, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

GENES, FATES, CELLS, WIDTH, BLOCKS = 240, 9, 384, 96, 33


class Lamb(torch.optim.Optimizer):
    """Large batch optimization for deep learning, algorithm 2."""

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.99), eps=1e-6, decay=0.01):
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps, "decay": decay})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            first, second = group["betas"]
            for weight in group["params"]:
                kept = self.state[weight]
                if not kept:
                    kept.update(step=0, mean=torch.zeros_like(weight), square=torch.zeros_like(weight))
                kept["step"] += 1
                kept["mean"] = first * kept["mean"] + (1 - first) * weight.grad
                kept["square"] = second * kept["square"] + (1 - second) * weight.grad * weight.grad
                mean = kept["mean"] / (1 - first ** kept["step"])
                square = kept["square"] / (1 - second ** kept["step"])
                move = mean / (square.sqrt() + group["eps"]) + group["decay"] * weight
                size, length = weight.norm().item(), move.norm().item()
                trust = min(max(size, 0.01), 10) / length if length else 1.0
                weight.sub_(group["lr"] * trust * move)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.one, self.two = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, cells):
        return cells + 0.2 * self.two(nn.functional.gelu(self.one(self.norm(cells))))


def culture(draw):
    counts = torch.poisson(torch.full((CELLS, GENES), 3.0), generator=draw).log1p()
    return counts, counts[:, :FATES].argmax(1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(6)
    network = nn.Sequential(nn.Linear(GENES, WIDTH), *(Block() for _ in range(BLOCKS)), nn.Linear(WIDTH, FATES))
    optimizer, watch = Lamb(network.parameters()), Stopwatch()
    draw = torch.Generator().manual_seed(60)
    cultures = [culture(draw) for _ in range(12)]
    with watch.loop():
        number = 0
        while watch.seconds() < 6.5:
            counts, fate = cultures[number % 12]
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(network(counts), fate)
            loss.backward()
            with watch.planted():
                optimizer.step()
            watch.step()
            number += 1
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
