"""The temperature of a pottery kiln one minute ahead, in NumPy: a residual network with gradients by hand, written into
arrays that are made once.

Clean: each step is the same few products of matrices.
Truth: nothing is planted; the clock is around the choice of the minutes.
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

MINUTES, WIDTH, BLOCKS = 160, 448, 3


class Block:
    """y = x + tanh(x W) V"""

    def __init__(self, dice):
        self.w, self.v = ((dice.standard_normal((WIDTH, WIDTH)) * scale).astype(np.float32) for scale in (0.05, 0.02))
        self.gw, self.gv = np.empty_like(self.w), np.empty_like(self.v)
        self.bent, self.y, self.slope, self.before = (np.empty((MINUTES, WIDTH), np.float32) for _ in range(4))

    def forward(self, x):
        self.x = x
        np.matmul(x, self.w, out=self.bent)
        np.tanh(self.bent, out=self.bent)
        np.matmul(self.bent, self.v, out=self.y)
        self.y += x
        return self.y

    def backward(self, slope):
        np.matmul(self.bent.T, slope, out=self.gv)
        np.matmul(slope, self.v.T, out=self.slope)
        np.multiply(self.bent, self.bent, out=self.bent)
        np.subtract(1, self.bent, out=self.bent)
        self.slope *= self.bent
        np.matmul(self.x.T, self.slope, out=self.gw)
        np.matmul(self.slope, self.w.T, out=self.before)
        self.before += slope
        return self.before

    def update(self, rate):
        for weight, gradient in ((self.w, self.gw), (self.v, self.gv)):
            gradient *= rate
            weight -= gradient


def main():
    dice = np.random.default_rng(9)
    watch = Stopwatch()
    history = dice.standard_normal((16, MINUTES, WIDTH)).astype(np.float32)
    wanted = np.roll(history, 1, axis=2) * np.float32(0.5)
    blocks = [Block(dice) for _ in range(BLOCKS)]
    miss = np.empty((MINUTES, WIDTH), np.float32)
    rate = np.float32(1e-3 / MINUTES)
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                x, y = history[len(watch.marks) % 16], wanted[len(watch.marks) % 16]
            for block in blocks:
                x = block.forward(x)
            np.subtract(x, y, out=miss)
            slope = miss
            for block in reversed(blocks):
                slope = block.backward(slope)
            for block in blocks:
                block.update(rate)
            watch.step()
            next_step()
    watch.tell()


if __name__ == "__main__":
    main()
