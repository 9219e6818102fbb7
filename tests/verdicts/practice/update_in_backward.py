"""Trains a model of tides, whose weights are updated as soon as their gradients are known.

Decoy of an optimizer that dominates: each weight has an optimizer of its own, called in the backward pass, and each is quick.
Truth: time of the optimizers, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(245)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(360, 600, bias=False), nn.ReLU(), nn.Linear(600, 400, bias=False), nn.ReLU(), nn.Linear(400, 40, bias=False))
    optimizers = {weight: torch.optim.SGD([weight], lr=0.01) for weight in model.parameters()}
    tides, watch = torch.randn(6000, 360), Stopwatch()

    def update(weight):
        with watch.planted():
            optimizers[weight].step()
            optimizers[weight].zero_grad()

    for weight in model.parameters():
        weight.register_post_accumulate_grad_hook(update)
    with watch.loop():
        while watch.seconds() < 3.4:
            batch = tides[torch.randint(6000, (1100,))]
            loss = nn.functional.mse_loss(model(batch), batch[:, :40])
            loss.backward()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
