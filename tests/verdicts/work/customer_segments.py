"""Customer segmentation: k-means++ with restarts and a silhouette-like score, numpy only."""
import json
import time

import numpy as np

CUSTOMERS, FEATURES, SEGMENTS, RESTARTS = 20000, 20, 12, 9


def make_customers(rng):
    centre = rng.normal(0, 3.0, (SEGMENTS, FEATURES))
    weight = rng.dirichlet(np.full(SEGMENTS, 4.0))
    who = rng.choice(SEGMENTS, CUSTOMERS, p=weight)
    spread = rng.uniform(0.7, 1.5, SEGMENTS)
    return centre[who] + rng.normal(0, 1, (CUSTOMERS, FEATURES)) * spread[who][:, None], who


def distances(x, x2, centres):
    return np.maximum(x2[:, None] - 2 * (x @ centres.T) + (centres ** 2).sum(1), 0)


def seed_centres(x, x2, k, rng):
    picked = [x[rng.integers(len(x))]]
    near = distances(x, x2, picked[0][None])[:, 0]
    for _ in range(k - 1):
        picked.append(x[rng.choice(len(x), p=near / near.sum())])
        near = np.minimum(near, distances(x, x2, picked[-1][None])[:, 0])
    return np.array(picked)


def lloyd(x, x2, centres, rounds=60, tol=1e-5):
    for step in range(rounds):
        d = distances(x, x2, centres)
        who = d.argmin(1)
        one_hot = np.zeros((len(x), len(centres)))
        one_hot[np.arange(len(x)), who] = 1
        size = one_hot.sum(0)
        new = (one_hot.T @ x) / np.maximum(size, 1)[:, None]
        empty = size == 0
        new[empty] = centres[empty]
        moved = np.abs(new - centres).max()
        centres = new
        if moved < tol:
            break
    return centres, who, d.min(1).sum(), step + 1


def simplified_silhouette(x, x2, centres):
    d = np.sqrt(np.sort(distances(x, x2, centres), 1)[:, :2])
    return float(((d[:, 1] - d[:, 0]) / np.maximum(d[:, 1], 1e-9)).mean())


def main():
    rng = np.random.default_rng(10)
    x, truth = make_customers(rng)
    x = (x - x.mean(0)) / x.std(0)
    x2 = (x ** 2).sum(1)
    begin = time.perf_counter()
    table = []
    for k in range(6, 17, 2):
        runs = [lloyd(x, x2, seed_centres(x, x2, k, rng)) for _ in range(RESTARTS)]
        centres, who, inertia, rounds = min(runs, key=lambda r: r[2])
        score = simplified_silhouette(x, x2, centres)
        table.append((score, k))
        print(f"k {k:2d}  inertia {inertia:10.1f}  rounds {rounds:3d}  score {score:.4f}")
    total = time.perf_counter() - begin
    print(f"best number of segments {max(table)[1]}")
    print("TRUTH", json.dumps({"share": 0, "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
