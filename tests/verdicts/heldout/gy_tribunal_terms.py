"""Terms that a tribunal uses together: matrices of co-occurrence are factorised by a network with two towers, in NumPy alone.

Clean: two towers of dense layers and their product, forward and back, into arrays that were made once; one thread.
Truth: 0.
"""
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402

from stopwatch import Stopwatch  # noqa: E402

FEATURES, HIDDEN, MEANING, TERMS = 224, 256, 96, 320
watch = Stopwatch()


class Tower:
    """Two layers; x / (1 + |x|) bends the first."""

    def __init__(self, dice):
        self.first = dice.normal(0, FEATURES ** -0.5, (FEATURES, HIDDEN)).astype(np.float32)
        self.second = dice.normal(0, HIDDEN ** -0.5, (HIDDEN, MEANING)).astype(np.float32)
        self.hidden, self.size = np.empty((TERMS, HIDDEN), np.float32), np.empty((TERMS, HIDDEN), np.float32)
        self.back, self.meaning = np.empty((TERMS, HIDDEN), np.float32), np.empty((TERMS, MEANING), np.float32)
        self.first_slope, self.second_slope = np.empty_like(self.first), np.empty_like(self.second)

    def forward(self, terms):
        np.matmul(terms, self.first, out=self.hidden)
        np.abs(self.hidden, out=self.size)
        self.size += 1
        self.hidden /= self.size
        return np.matmul(self.hidden, self.second, out=self.meaning)

    def backward(self, terms, slope, rate):
        np.matmul(self.hidden.T, slope, out=self.second_slope)
        np.matmul(slope, self.second.T, out=self.back)
        self.back /= self.size
        self.back /= self.size
        np.matmul(terms.T, self.back, out=self.first_slope)
        self.first_slope *= rate
        self.second_slope *= rate
        self.first -= self.first_slope
        self.second -= self.second_slope


def records(dice, count):
    made = []
    for _ in range(count):
        left, right = (dice.standard_normal((TERMS, FEATURES), np.float32) for _ in range(2))
        made.append((left, right, (left[:, :8] @ right[:, :8].T / 8).astype(np.float32)))
    return made


def main():
    dice = np.random.default_rng(30)
    left, right = Tower(dice), Tower(dice)
    batches = records(dice, 12)
    off, of_left, of_right = np.empty((TERMS, TERMS), np.float32), np.empty((TERMS, MEANING), np.float32), np.empty((TERMS, MEANING), np.float32)
    number = 0
    with watch.loop():
        while watch.seconds() < 6.2:
            these, those, together = batches[number % len(batches)]
            one, other = left.forward(these), right.forward(those)
            np.matmul(one, other.T, out=off)
            off -= together
            np.matmul(off, other, out=of_left)
            np.matmul(off.T, one, out=of_right)
            left.backward(these, of_left, 1e-7)
            right.backward(those, of_right, 1e-7)
            watch.step()
            number += 1
    print(f"off by {np.abs(off).mean():.4f}")
    watch.tell()


main()
