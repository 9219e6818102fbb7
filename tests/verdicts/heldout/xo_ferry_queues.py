"""Foretells how long cars wait for a ferry: nearest neighbours among earlier crossings and a ridge regression on top, that
learns from each sailing; in NumPy.

Planted: the neighbours of each car are weighed in a Python loop with a dictionary of piers.
Truth: time of that loop, of the loop over sailings.
"""
import numpy as np

from stopwatch import Stopwatch

CARS, KNOWN, FACTS, NEAR, PIERS = 64, 3000, 48, 24, 6


class Crossings:
    def __init__(self, random):
        self.facts = random.standard_normal((KNOWN, FACTS)).astype(np.float32)
        self.pier = random.integers(0, PIERS, KNOWN)
        self.waited = (np.abs(self.facts[:, 0]) * 10 + self.pier).astype(np.float32)
        self.square = (self.facts ** 2).sum(1)

    def nearest(self, cars):
        far = self.square - 2 * cars @ self.facts.T
        return np.argpartition(far, NEAR, axis=1)[:, :NEAR], far

    def vote(self, near, far):
        """For each car the weighed wait of its neighbours, by pier."""
        votes = np.zeros((len(near), PIERS), np.float32)
        for car, row in enumerate(near):
            sums, weights = {}, {}
            for other in row:
                pier = int(self.pier[other])
                weight = 1.0 / (1.0 + abs(float(far[car, other])))
                sums[pier] = sums.get(pier, 0.0) + weight * float(self.waited[other])
                weights[pier] = weights.get(pier, 0.0) + weight
            for pier, total in sums.items():
                votes[car, pier] = total / weights[pier]
        return votes


class Ridge:
    def __init__(self, width):
        self.product = np.eye(width, dtype=np.float32) * 10
        self.target = np.zeros(width, np.float32)

    def learn(self, inputs, waited):
        self.product = 0.99 * self.product + inputs.T @ inputs
        self.target = 0.99 * self.target + inputs.T @ waited
        self.weights = np.linalg.solve(self.product, self.target)
        return float(np.abs(inputs @ self.weights - waited).mean())


def main():
    random, watch = np.random.default_rng(2), Stopwatch()
    crossings, ridge, missed = Crossings(random), Ridge(FACTS + PIERS), 0.0
    with watch.loop():
        while watch.seconds() < 6:
            cars = random.standard_normal((CARS, FACTS), dtype=np.float32)
            near, far = crossings.nearest(cars)
            with watch.planted():
                votes = crossings.vote(near, far)
            missed = ridge.learn(np.hstack([cars, votes]), np.abs(cars[:, 0]) * 10 + 2.5)
            watch.step()
    print(f"{missed:.3f} minutes")
    watch.tell()


main()
