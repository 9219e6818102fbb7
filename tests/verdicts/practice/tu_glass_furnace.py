"""Finds the warmth inside a glass furnace without a single thermometer: a network of place and time is trained so that it obeys the
equation of heat, whose derivatives come from torch.func.

Clean: forward derivatives of a whole batch, a gradient over eight tensors, momentum; points drawn before the loop.
Truth: time of picking the next points, as a share of the loop.
"""
import torch
from torch.func import grad, jvp

from stopwatch import Stopwatch

POINTS, WIDTH = 320, 160


def furnace():
    sizes = [2, WIDTH, WIDTH, WIDTH, 1]
    return [(torch.randn(a, b) / a ** 0.5, torch.zeros(b)) for a, b in zip(sizes, sizes[1:])]


def warmth(layers, x, t):
    glass = torch.stack((x, t), 1)
    for weight, bias in layers[:-1]:
        glass = torch.sin(glass @ weight + bias)
    weight, bias = layers[-1]
    return (glass @ weight + bias).squeeze(1)


def heat(layers, x, t):
    """What the equation leaves over: u_t - 0.1 u_xx, squared."""
    ones = torch.ones_like(x)

    def slope(x):
        return jvp(lambda x: warmth(layers, x, t), (x,), (ones,))[1]

    curve = jvp(slope, (x,), (ones,))[1]
    later = jvp(lambda t: warmth(layers, x, t), (t,), (ones,))[1]
    return (later - 0.1 * curve).square().mean()


def residue(layers, x, t):
    walls = (warmth(layers, torch.zeros_like(t), t) - 1).square().mean()
    return heat(layers, x, t) + walls


def main():
    torch.manual_seed(19)
    torch.set_num_threads(1)
    watch = Stopwatch()
    layers = furnace()
    speeds = [(torch.zeros_like(weight), torch.zeros_like(bias)) for weight, bias in layers]
    places, times = torch.rand(50, POINTS), torch.rand(50, POINTS)
    fall = grad(residue)
    number = 0
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                x, t = places[number % 50], times[number % 50]
            slopes = fall(layers, x, t)
            for layer, slope, speed in zip(layers, slopes, speeds):
                for value, down, rate in zip(layer, slope, speed):
                    rate.mul_(0.9).add_(down)
                    value.sub_(rate, alpha=1e-4)
            number += 1
            watch.step()
    print(f"left over {heat(layers, places[0], times[0]):.5f}")
    watch.tell()


main()
