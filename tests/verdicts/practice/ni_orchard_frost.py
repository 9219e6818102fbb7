"""Frost in an orchard by an echo-state network in NumPy, whose readout learns by stochastic gradients.

Decoy: a loop in Python over the thermometers, a save of the readout now and then, a diary that is flushed, a small
gc.collect(), a nap for a sensor that is read seldom and a list that grows; all of a moment.
Truth: time of all of these, as a share of the loop.
"""
import gc
import importlib
import io
import os
import sys
import tempfile
import time

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

THERMOMETERS, STATES, NIGHTS, READ = 24, 600, 96, 16


class Orchard:
    def __init__(self, dice):
        self.phase = dice.uniform(0, 6, THERMOMETERS)
        self.hours = np.arange(READ)

    def night(self, number):
        grid = np.sin(0.4 * self.hours[:, None, None] + self.phase + 0.1 * (number + np.arange(NIGHTS))[None, :, None])
        return grid.astype(np.float32)


class Echo:
    def __init__(self, dice):
        self.inside = (dice.standard_normal((STATES, STATES)) * 0.9 / np.sqrt(STATES)).astype(np.float32)
        self.enter = (dice.standard_normal((THERMOMETERS, STATES)) * 0.3).astype(np.float32)
        self.readout = np.zeros((STATES, THERMOMETERS), np.float32)
        self.state, self.again, self.push = (np.zeros((NIGHTS, STATES), np.float32) for _ in range(3))

    def step(self, reading, coming):
        np.matmul(self.state, self.inside, out=self.again)
        np.matmul(reading, self.enter, out=self.push)
        self.again += self.push
        np.tanh(self.again, out=self.state)
        miss = self.state @ self.readout - coming
        self.readout -= np.float32(1e-3 / NIGHTS) * (self.state.T @ miss)
        return miss


class Diary:
    def __init__(self, file):
        self.file, self.warnings = file, []

    def write(self, number, miss, echo):
        coldest = 0.0
        for thermometer in range(THERMOMETERS):
            coldest = min(coldest, float(miss[0, thermometer]))
        self.warnings.append((number, coldest))
        if number % 10 == 0:
            print(number, coldest, file=self.file, flush=True)
        if number % 40 == 39:
            np.save(io.BytesIO(), echo.readout)
            gc.collect(0)
            time.sleep(0.0005)


def main():
    dice = np.random.default_rng(1)
    watch = Stopwatch()
    orchard, echo = Orchard(dice), Echo(dice)
    with tempfile.TemporaryFile("w") as file, watch.loop():
        diary = Diary(file)
        while watch.seconds() < 6:
            grid = orchard.night(len(watch.marks) % 60)
            for hour in range(READ - 1):
                miss = echo.step(grid[hour], grid[hour + 1])
            with watch.planted():
                diary.write(len(watch.marks), miss, echo)
            watch.step()
            next_step()
    watch.tell()


if __name__ == "__main__":
    main()
