"""Learns a fleet's use of fuel from its voyages, in NumPy; the constants of each voyage are in a ledger that other programs use too.

Planted: the ledger is guarded by a lock file, which another process has for some time again and again; the loop sleeps 8 ms between its attempts.
Truth: time from the first failed attempt until the lock is there, of the loop.
"""
import importlib
import json
import multiprocessing
import os
import pathlib
import sys
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402

from stopwatch import Stopwatch  # noqa: E402

VOYAGES, FACTS, UNITS = 384, 24, 288


def step_marker():
    """dwell.step, if dwell can be imported; else nothing."""
    above = [parent / "python" for parent in pathlib.Path(__file__).resolve().parents]
    for folder in [None, *above]:
        try:
            if folder:
                if not (folder / "dwell").is_dir():
                    continue
                sys.path.append(str(folder))
            return importlib.import_module("dwell").step
        except (ImportError, OSError, AttributeError):
            continue
    return lambda: None


class LockFile:
    def __init__(self, path, watch=None):
        self.path, self.watch = path, watch

    def grab(self):
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL))
            return True
        except FileExistsError:
            return False

    def __enter__(self):
        if self.grab():
            return
        began = time.perf_counter()
        while not self.grab():
            time.sleep(0.008)
        if self.watch:
            self.watch.planted_s += time.perf_counter() - began

    def __exit__(self, *_):
        os.unlink(self.path)


def audit(folder):
    """Another program: it has the ledger open while it talks to its own far server."""
    while True:
        with LockFile(os.path.join(folder, "ledger.lock")):
            time.sleep(0.024)
        time.sleep(0.016)


class Fuel:
    def __init__(self, random):
        self.w1 = random.normal(0, 0.2, (FACTS, UNITS)).astype(np.float32)
        self.w2 = random.normal(0, 0.06, (UNITS, UNITS)).astype(np.float32)
        self.w3 = random.normal(0, 0.06, (UNITS, 1)).astype(np.float32)

    def learn(self, facts, used, rate=0.05):
        a = np.tanh(facts @ self.w1)
        b = np.tanh(a @ self.w2)
        wrong = b @ self.w3 - used
        back_b = (wrong @ self.w3.T) * (1 - b * b) / VOYAGES
        back_a = (back_b @ self.w2.T) * (1 - a * a)
        self.w3 -= rate * (b.T @ wrong) / VOYAGES
        self.w2 -= rate * (a.T @ back_b)
        self.w1 -= rate * (facts.T @ back_a)
        return float((wrong * wrong).mean())


def main():
    random, watch, mark = np.random.default_rng(2), Stopwatch(), step_marker()
    with tempfile.TemporaryDirectory() as folder:
        ledger = os.path.join(folder, "ledger.json")
        with open(ledger, "w", encoding="ascii") as file:
            json.dump({"price": 1.1, "sea": [0.3, 0.5, 0.2]}, file)
        other = multiprocessing.get_context("spawn").Process(target=audit, args=(folder,), daemon=True)
        other.start()
        time.sleep(0.5)
        lock, fuel = LockFile(os.path.join(folder, "ledger.lock"), watch), Fuel(random)
        with watch.loop():
            while watch.seconds() < 6:
                mark()
                with lock, open(ledger, encoding="ascii") as file:
                    constants = json.load(file)
                for _ in range(4):
                    facts = random.standard_normal((VOYAGES, FACTS), dtype=np.float32)
                    used = constants["price"] * facts[:, :3] @ np.array(constants["sea"], np.float32)[:, None]
                    loss = fuel.learn(facts, used)
                watch.step()
        other.terminate()
        other.join()
    print(f"loss {loss:.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
