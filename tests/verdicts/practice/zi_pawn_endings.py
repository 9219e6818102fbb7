"""Says whether endings with pawns are won: a network in NumPy whose training is written by hand, with the ranges of dwell around its parts.

Planted: planes of a board are filled in by a loop in Python over pieces and squares, which also looks at the squares ahead of each pawn.
Truth: time of making the planes, as a share of the loop.
"""
import contextlib
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402

from stopwatch import Stopwatch  # noqa: E402

try:
    from dwell import record_function, step
except ImportError:  # not installed here
    record_function = contextlib.nullcontext

    def step():
        pass

PLANES, BATCH, WIDTH = 8, 48, 1024


class Ending:
    def __init__(self, dice):
        squares = dice.permutation(64)[:12]
        self.pieces = [("KkPpPpPpPpPp"[i], int(s) % 8, int(s) // 8) for i, s in enumerate(squares)]
        self.won = float(squares[2:].mean() > 31)


def planes_of(ending, planes):
    blocked = {(x, y) for _, x, y in ending.pieces}
    for name, x, y in ending.pieces:
        plane = "KkPp".index(name)
        planes[plane, y, x] = 1.0
        if name in "Pp":
            ahead = range(y + 1, 8) if name == "P" else range(y - 1, -1, -1)
            for row in ahead:
                for column in (x - 1, x, x + 1):
                    if 0 <= column < 8 and (column, row) not in blocked:
                        planes[4 + (name == "p"), row, column] += 0.25
        else:
            for row in range(8):
                for column in range(8):
                    planes[6 + (name == "k"), row, column] = max(abs(row - y), abs(column - x)) / 7


class Judge:
    def __init__(self, dice):
        self.weights = [dice.normal(0, n ** -0.5, (n, m)).astype(np.float32) for n, m in ((PLANES * 64, WIDTH), (WIDTH, WIDTH), (WIDTH, 1))]

    def learn(self, planes, won):
        with record_function("forward"):
            one = np.tanh(planes @ self.weights[0])
            two = np.tanh(one @ self.weights[1])
            chance = 1 / (1 + np.exp(-(two @ self.weights[2])))
        with record_function("backward"):
            error = (chance - won[:, None]) / len(won)
            last = two.T @ error
            error = (error @ self.weights[2].T) * (1 - two * two)
            middle = one.T @ error
            error = (error @ self.weights[1].T) * (1 - one * one)
            first = planes.T @ error
        with record_function("update"):
            for weight, by in zip(self.weights, (first, middle, last)):
                by *= 0.05
                weight -= by
        return float(((chance[:, 0] > 0.5) == won).mean())


def main():
    dice = np.random.default_rng(6)
    endings = [Ending(dice) for _ in range(960)]
    judge, watch = Judge(dice), Stopwatch()
    right = 0.0
    with watch.loop():
        for number in watch.limited(range(100000), 6):
            step()
            some = endings[number * BATCH % 960:][:BATCH]
            with record_function("planes"), watch.planted():
                planes = np.zeros((BATCH, PLANES, 8, 8), np.float32)
                for ending, of in zip(some, planes):
                    planes_of(ending, of)
            right = judge.learn(planes.reshape(BATCH, -1), np.array([e.won for e in some], np.float32))
            watch.step()
    print(f"right {right:.2f}")
    watch.tell()


main()
