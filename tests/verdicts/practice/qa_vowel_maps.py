"""Orders vowels of many speakers on a map of cells by their formants: a self-organizing map in NumPy, a batch in each step.

Clean: nothing is planted; products of matrices into arrays that were made before.
Truth: nothing comes near a cause, 0.
"""
import importlib
import pathlib
import sys

import numpy as np

from stopwatch import Stopwatch

VOWELS, FORMANTS, SIDE = 1024, 48, 24
CELLS = SIDE * SIDE


def find_step():
    """dwell.step, if dwell can be imported; else nothing."""
    try:
        return importlib.import_module("dwell").step
    except ImportError:
        pass
    for folder in pathlib.Path(__file__).resolve().parents:
        if (folder / "python" / "dwell").is_dir():
            sys.path.append(str(folder / "python"))
            try:
                return importlib.import_module("dwell").step
            except (ImportError, OSError, AttributeError):
                break
    return lambda: None


def main():
    random, watch, step = np.random.default_rng(17), Stopwatch(), find_step()
    speech = random.standard_normal((16, VOWELS, FORMANTS), dtype=np.float32)
    cells = random.standard_normal((CELLS, FORMANTS), dtype=np.float32)
    place = np.stack(np.divmod(np.arange(CELLS), SIDE), 1)
    near = np.exp(-((place[:, None] - place[None]) ** 2).sum(2) / 8.0).astype(np.float32)
    far, share = np.empty((VOWELS, CELLS), np.float32), np.empty((VOWELS, CELLS), np.float32)
    lengths, pulls, weights = np.empty(CELLS, np.float32), np.empty((CELLS, FORMANTS), np.float32), np.empty(CELLS, np.float32)
    squares = np.empty_like(cells)
    with watch.loop():
        while watch.seconds() < 6:
            step()
            for vowels in speech[:4] if len(watch.marks) % 2 else speech[4:8]:
                np.matmul(vowels, cells.T, out=far)
                np.multiply(cells, cells, out=squares)
                np.sum(squares, axis=1, out=lengths)
                far *= -2
                far += lengths
                np.take(near, far.argmin(1), axis=0, out=share)
                np.matmul(share.T, vowels, out=pulls)
                np.sum(share, axis=0, out=weights)
                weights += 0.1
                pulls /= weights[:, None]
                pulls -= cells
                pulls *= 0.05
                cells += pulls
            watch.step()
    print(f"spread {cells.std():.3f}")
    watch.tell(0.0)


main()
