"""Arranges the blocks of quilts: an encoder and a decoder of dense layers learn to complete a quilt, in NumPy alone.

Clean: nothing is planted; one batch is as large as the other, and all arrays are made once and written with out=.
Truth: nothing comes near a cause, 0.
"""
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402

from stopwatch import Stopwatch  # noqa: E402

try:
    import dwell
except ImportError:
    dwell = None

BATCH, SIZES = 192, (576, 512, 160, 512, 576)
watch = Stopwatch()


class Layer:
    def __init__(self, dice, inputs, outputs):
        self.weight = dice.normal(0, inputs ** -0.5, (inputs, outputs)).astype(np.float32)
        self.speed = np.zeros_like(self.weight)
        self.change = np.empty_like(self.weight)
        self.out = np.empty((BATCH, outputs), np.float32)
        self.slope = np.empty_like(self.out)
        self.back = np.empty((BATCH, inputs), np.float32)

    def forward(self, x):
        self.x = x
        np.matmul(x, self.weight, out=self.out)
        return np.tanh(self.out, out=self.out)

    def backward(self, error):
        np.multiply(self.out, self.out, out=self.slope)
        np.subtract(1, self.slope, out=self.slope)
        np.multiply(error, self.slope, out=self.slope)
        np.matmul(self.slope, self.weight.T, out=self.back)
        np.matmul(self.x.T, self.slope, out=self.change)
        return self.back

    def update(self, rate):
        self.speed *= np.float32(0.9)
        self.speed += self.change
        np.multiply(self.speed, rate, out=self.change)
        self.weight -= self.change


def main():
    dice = np.random.default_rng(14)
    motifs = dice.normal(size=(12, SIZES[0])).astype(np.float32)
    quilts = np.tanh(dice.normal(size=(8 * BATCH, 12)).astype(np.float32) @ motifs)
    seen = quilts * (dice.random(quilts.shape) < 0.8)
    seen = seen.astype(np.float32)
    layers = [Layer(dice, *sizes) for sizes in zip(SIZES, SIZES[1:])]
    error = np.empty((BATCH, SIZES[-1]), np.float32)
    rate = np.float32(2e-3 / BATCH)
    number = 0
    with watch.loop():
        while watch.seconds() < 6:
            rows = slice(number % 8 * BATCH, (number % 8 + 1) * BATCH)
            x = seen[rows]
            for layer in layers:
                x = layer.forward(x)
            np.subtract(x, quilts[rows], out=error)
            back = error
            for layer in reversed(layers):
                back = layer.backward(back)
            for layer in layers:
                layer.update(rate)
            number += 1
            if dwell:
                dwell.step()
            watch.step()
    print(f"error {float(np.abs(error).mean()):.4f}")
    watch.tell(0.0)


main()
