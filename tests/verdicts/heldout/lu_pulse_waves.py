"""Blood pressure from the wave of a pulse: an ensemble of six networks as stacked weights, vmap over grad_and_value, momentum by hand.

Clean: each step is the same work on batches from memory; eight stacked tensors are brought up to date in place.
Truth: time of the update, as a share of the loop.
"""
import torch
from torch.func import grad_and_value, vmap

from stopwatch import Stopwatch

MODELS, POINTS, WIDTH, BATCH = 6, 200, 160, 512
watch = Stopwatch()


def pressure(weights, wave):
    for number in range(3):
        wave = torch.nn.functional.gelu(wave @ weights[f"w{number}"] + weights[f"b{number}"])
    return (wave @ weights["w3"] + weights["b3"]).squeeze(-1)


def wrong(weights, wave, seen):
    return torch.nn.functional.huber_loss(pressure(weights, wave), seen)


def stacked():
    sizes, weights = [POINTS, WIDTH, WIDTH, WIDTH, 1], {}
    for number, (into, out) in enumerate(zip(sizes, sizes[1:])):
        weights[f"w{number}"] = torch.randn(MODELS, into, out) * into ** -0.5
        weights[f"b{number}"] = torch.zeros(MODELS, 1, out)
    return weights


def main():
    torch.set_num_threads(1)
    torch.manual_seed(17)
    weights = stacked()
    momentum = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    time = torch.linspace(0, 6.28, POINTS)
    rate, depth = torch.rand(2, BATCH * 16, 1)
    waves = (time * (1 + rate)).sin() * depth + 0.1 * torch.randn(BATCH * 16, POINTS)
    seen = (0.5 * rate + depth).squeeze(1)
    learn = vmap(grad_and_value(wrong), in_dims=(0, 0, 0))
    with watch.loop():
        for step in watch.limited(range(100000), 6):
            rows = torch.randint(0, len(waves), (MODELS, BATCH))
            slopes, losses = learn(weights, waves[rows], seen[rows])
            with watch.planted():
                for name, weight in weights.items():
                    weight.sub_(momentum[name].mul_(0.9).add_(slopes[name]), alpha=0.01)
            watch.step()
    print("losses", [round(loss, 4) for loss in losses.tolist()])
    watch.tell()


main()
