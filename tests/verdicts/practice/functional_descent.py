"""Fits ocean currents without an optimizer object: gradients from torch.func, parameters in a dictionary.

Planted: nothing. The update of the dictionary is in Python, but there are six tensors.
Truth: time of the update, as a share of the loop.
"""
import torch
from torch import nn
from torch.func import functional_call, grad_and_value

from stopwatch import Stopwatch


def main():
    torch.manual_seed(19)
    watch = Stopwatch()
    model = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 2))
    parameters = {name: value.detach() for name, value in model.named_parameters()}
    places, currents = torch.rand(1500, 64), torch.rand(1500, 2)

    def off(parameters):
        return nn.functional.mse_loss(functional_call(model, parameters, (places,)), currents)

    slope = grad_and_value(off)
    with watch.loop():
        while watch.seconds() < 5:
            slopes, _ = slope(parameters)
            with watch.planted():
                parameters = {name: value - 0.01 * slopes[name] for name, value in parameters.items()}
            watch.step()
    watch.tell()


if __name__ == "__main__":
    main()
