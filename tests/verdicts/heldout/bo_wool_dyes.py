"""Groups dyed wools by their spectra and learns the recipe of each: a mixture of Gaussians with a dense layer, in NumPy alone.

Planted: the distances of all wools to all centres are written as (a[:, None] - b[None]) ** 2, which makes arrays of 50 MB in each step.
Truth: time of these distances, of the loop; as a product of matrices they take less than a thirtieth of it.
"""
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402

from stopwatch import Stopwatch  # noqa: E402

try:
    import dwell
except ImportError:
    dwell = None

WOOLS, WAVES, CENTRES, HIDDEN, DYES = 4000, 64, 50, 768, 24
watch = Stopwatch()


def distances(wools, centres):
    difference = wools[:, None, :] - centres[None, :, :]
    return (difference ** 2).sum(axis=2)


class Recipe:
    """From a spectrum and its shares in the groups to the amounts of the dyes."""

    def __init__(self, dice):
        self.one = dice.normal(0, 0.05, (WAVES + CENTRES, HIDDEN)).astype(np.float32)
        self.two = dice.normal(0, 0.05, (HIDDEN, HIDDEN)).astype(np.float32)
        self.last = dice.normal(0, 0.05, (HIDDEN, DYES)).astype(np.float32)

    def learn(self, inputs, amounts, rate):
        first = np.tanh(inputs @ self.one)
        second = np.tanh(first @ self.two)
        error = (second @ self.last - amounts) / np.float32(len(inputs))
        deep = (error @ self.last.T) * (1 - second * second)
        shallow = (deep @ self.two.T) * (1 - first * first)
        self.last -= rate * (second.T @ error)
        self.two -= rate * (first.T @ deep)
        self.one -= rate * (inputs.T @ shallow)
        return float((error * error).sum() * len(inputs))


def main():
    dice = np.random.default_rng(6)
    wools = dice.normal(size=(WOOLS, WAVES)).astype(np.float32).cumsum(axis=1) / np.float32(8)
    amounts = np.abs(wools @ dice.normal(0, 0.2, (WAVES, DYES)).astype(np.float32))
    centres = wools[dice.choice(WOOLS, CENTRES, replace=False)].copy()
    recipe = Recipe(dice)
    loss = 0.0
    with watch.loop():
        while watch.seconds() < 6.5:
            with watch.planted():
                far = distances(wools, centres)
            share = np.exp(-0.5 * (far - far.min(axis=1, keepdims=True)))
            share /= share.sum(axis=1, keepdims=True)
            centres = 0.95 * centres + 0.05 * (share.T @ wools) / (share.sum(axis=0)[:, None] + np.float32(1e-3))
            centres = centres.astype(np.float32)
            some = dice.integers(0, WOOLS, 1024)
            loss = recipe.learn(np.concatenate([wools[some], share[some]], axis=1), amounts[some], np.float32(1e-3))
            if dwell:
                dwell.step()
            watch.step()
    print(f"loss {loss:.4f}")
    watch.tell()


main()
