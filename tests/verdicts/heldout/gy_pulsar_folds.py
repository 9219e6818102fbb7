"""Finds the period of a pulsar among candidates: an actor with one hidden layer proposes corrections, and learns from what it has seen
so far. NumPy alone.

Planted: what was seen is one array, to which np.concatenate appends each step's candidates; its mean and spread are taken anew each time.
Truth: time of appending and taking mean and spread, of the loop.
"""
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402

from stopwatch import Stopwatch  # noqa: E402

BINS, HIDDEN, FOLDS, DRAWN = 96, 320, 48, 384
watch = Stopwatch()


class Memory:
    """All candidates that were looked at: their folded profiles, and how far off the period was."""

    def __init__(self):
        self.profiles = np.zeros((0, BINS), np.float32)
        self.errors = np.zeros(0, np.float32)
        self.mean = self.spread = None

    def remember(self, profiles, errors):
        self.profiles = np.concatenate((self.profiles, profiles))
        self.errors = np.concatenate((self.errors, errors))
        self.mean = self.profiles.mean(0)
        self.spread = self.profiles.std(0) + 1e-3

    def draw(self, dice, count):
        which = dice.integers(0, len(self.errors), count)
        return (self.profiles[which] - self.mean) / self.spread, self.errors[which]


class Actor:
    def __init__(self, dice):
        self.weights = [dice.normal(0, size[0] ** -0.5, size).astype(np.float32) for size in ((BINS, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 1))]
        self.speeds = [np.zeros_like(w) for w in self.weights]

    def propose(self, profiles):
        seen = [profiles]
        for weight in self.weights[:-1]:
            seen.append(np.tanh(seen[-1] @ weight))
        return seen, (seen[-1] @ self.weights[-1])[:, 0]

    def learn(self, profiles, errors):
        seen, guess = self.propose(profiles)
        off = guess - errors
        back = off[:, None] / len(off)
        for layer in (2, 1, 0):
            slope = seen[layer].T @ back
            if layer:
                back = back @ self.weights[layer].T * (1 - seen[layer] ** 2)
            self.speeds[layer] = 0.9 * self.speeds[layer] + slope
            self.weights[layer] -= 0.01 * self.speeds[layer]
        return float((off ** 2).mean())


def look(dice):
    """Profiles of candidates: the farther off the period, the more the pulse is smeared."""
    errors = dice.uniform(0, 1, FOLDS).astype(np.float32)
    phase = (np.arange(BINS, dtype=np.float32) / BINS - dice.uniform(0.3, 0.7, (FOLDS, 1)).astype(np.float32)) / (0.03 + 0.2 * errors[:, None])
    profiles = np.exp(-phase ** 2) / (0.3 + errors[:, None]) + dice.standard_normal((FOLDS, BINS), np.float32) * 0.2
    return profiles, errors


def main():
    dice = np.random.default_rng(6)
    actor, memory = Actor(dice), Memory()
    with watch.loop():
        while watch.seconds() < 6.5:
            profiles, errors = look(dice)
            with watch.planted():
                memory.remember(profiles, errors)
            for _ in range(3):
                loss = actor.learn(*memory.draw(dice, DRAWN))
            watch.step()
    print(f"loss {loss:.4f}, {len(memory.errors)} candidates")
    watch.tell()


main()
