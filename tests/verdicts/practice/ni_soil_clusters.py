"""Classes of soil from near-infrared spectra, in NumPy: an autoencoder with gradients by hand, and soft clusters of its
codes that pull at it.

Planted: distances of codes and centres are made by broadcasting, so an array of 50 MB comes and goes in each step.
Truth: time of these distances, as a share of the loop.
"""
import importlib
import os
import sys

import numpy as np

from stopwatch import Stopwatch


def mark():
    """dwell.step, of a dwell that is installed or whose sources are near; without dwell, nothing."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in ("", os.path.join(here, "../../../python")):
        sys.path.append(folder or here)
        try:
            return importlib.import_module("dwell").step
        except ImportError:
            sys.path.pop()
    return lambda: None


next_step = mark()

SAMPLES, BANDS, HIDDEN, CODE, CENTRES = 768, 384, 512, 64, 256


class Dense:
    def __init__(self, dice, inputs, outputs):
        self.weight = (dice.standard_normal((inputs, outputs)) / np.sqrt(inputs)).astype(np.float32)
        self.bias = np.zeros(outputs, np.float32)

    def __call__(self, x):
        self.x = x
        return x @ self.weight + self.bias

    def back(self, slope, rate):
        before = slope @ self.weight.T
        self.weight -= rate * (self.x.T @ slope)
        self.bias -= rate * slope.sum(0)
        return before


class Clusters:
    def __init__(self, dice):
        self.centres = dice.standard_normal((CENTRES, CODE)).astype(np.float32)

    def distances(self, codes):
        return ((codes[:, None, :] - self.centres[None, :, :]) ** 2).sum(-1)

    def pull(self, codes, watch):
        """The gradient of the soft assignment, for the codes."""
        with watch.planted():
            far = self.distances(codes)
        weights = 1 / (1 + far)
        weights /= weights.sum(1, keepdims=True)
        pull = codes - weights @ self.centres
        self.centres += 0.01 / SAMPLES * (weights.T @ codes - weights.sum(0)[:, None] * self.centres)
        return pull


def main():
    dice = np.random.default_rng(5)
    watch = Stopwatch()
    spectra = dice.standard_normal((8 * SAMPLES, BANDS)).astype(np.float32)
    into, code, out, last = (Dense(dice, a, b) for a, b in ((BANDS, HIDDEN), (HIDDEN, CODE), (CODE, HIDDEN), (HIDDEN, BANDS)))
    clusters = Clusters(dice)
    rate = np.float32(1e-3 / SAMPLES)
    with watch.loop():
        while watch.seconds() < 6:
            at = len(watch.marks) % 8 * SAMPLES
            x = spectra[at:at + SAMPLES]
            a = np.tanh(into(x))
            codes = code(a)
            b = np.tanh(out(codes))
            slope = last.back(last(b) - x, rate)
            slope = out.back(slope * (1 - b * b), rate)
            slope += np.float32(0.1) * clusters.pull(codes, watch)
            slope = code.back(slope, rate)
            into.back(slope * (1 - a * a), rate)
            watch.step()
            next_step()
    watch.tell()


if __name__ == "__main__":
    main()
