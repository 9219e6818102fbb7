"""Prices a book of barrier and Asian options under the Heston model.

Paths are simulated in chunks by a pool of two processes; antithetic draws and
a control variate keep the errors small.
"""
import math
import multiprocessing
from dataclasses import dataclass

import numpy as np

WORKERS = 2
CHUNKS = 220
PATHS = 6000           # per chunk, half of them antithetic
STEPS = 252
MATURITY = 1.5
RATE = 0.025


@dataclass(frozen=True)
class Heston:
    spot: float = 100.0
    v0: float = 0.05
    kappa: float = 1.8
    theta: float = 0.06
    xi: float = 0.45
    rho: float = -0.65


@dataclass(frozen=True)
class Contract:
    name: str
    kind: str            # "asian", "down_out", "up_in"
    strike: float
    barrier: float = 0.0


BOOK = [
    Contract("asian 95", "asian", 95.0),
    Contract("asian 100", "asian", 100.0),
    Contract("asian 110", "asian", 110.0),
    Contract("down-and-out 100/80", "down_out", 100.0, 80.0),
    Contract("down-and-out 100/90", "down_out", 100.0, 90.0),
    Contract("up-and-in 100/125", "up_in", 100.0, 125.0),
]


def simulate(model, rng):
    """Terminal, mean, lowest and highest prices of PATHS paths (full truncation Euler)."""
    dt = MATURITY / STEPS
    root = math.sqrt(dt)
    half = PATHS // 2
    log_s = np.full(PATHS, math.log(model.spot))
    var = np.full(PATHS, model.v0)
    total = np.zeros(PATHS)
    low, high = log_s.copy(), log_s.copy()
    z1, z2 = np.empty(PATHS), np.empty(PATHS)
    comp = math.sqrt(1 - model.rho ** 2)
    for _ in range(STEPS):
        rng.standard_normal(out=z1[:half])
        rng.standard_normal(out=z2[:half])
        np.negative(z1[:half], out=z1[half:])
        np.negative(z2[:half], out=z2[half:])
        v = np.maximum(var, 0.0)
        vol = np.sqrt(v) * root
        log_s += (RATE - 0.5 * v) * dt + vol * z1
        var += model.kappa * (model.theta - v) * dt
        var += model.xi * vol * (model.rho * z1 + comp * z2)
        total += np.exp(log_s)
        np.minimum(low, log_s, out=low)
        np.maximum(high, log_s, out=high)
    return np.exp(log_s), total / STEPS, np.exp(low), np.exp(high)


def payoff(contract, last, mean, low, high):
    if contract.kind == "asian":
        return np.maximum(mean - contract.strike, 0.0)
    plain = np.maximum(last - contract.strike, 0.0)
    if contract.kind == "down_out":
        return plain * (low > contract.barrier)
    return plain * (high >= contract.barrier)


def run_chunk(task):
    """Moments of the payoffs and of the control (the discounted terminal price)."""
    model, seed = task
    rng = np.random.Generator(np.random.PCG64(seed))
    last, mean, low, high = simulate(model, rng)
    half = PATHS // 2
    discount = math.exp(-RATE * MATURITY)
    pair = lambda a: 0.5 * discount * (a[:half] + a[half:])
    control = pair(last)
    values = np.stack([pair(payoff(c, last, mean, low, high)) for c in BOOK])
    return (half, values.sum(1), (values ** 2).sum(1), control.sum(), (control ** 2).sum(),
            values @ control)


def combine(parts, model):
    n = sum(p[0] for p in parts)
    sv, sv2, sc, sc2, svc = (sum(p[k] for p in parts) for k in range(1, 6))
    mean_v, mean_c = sv / n, sc / n
    var_c = sc2 / n - mean_c ** 2
    cov = svc / n - mean_v * mean_c
    beta = cov / var_c
    price = mean_v - beta * (mean_c - model.spot)
    var_v = sv2 / n - mean_v ** 2 - cov ** 2 / var_c
    return price, np.sqrt(var_v / n)


def main():
    model = Heston()
    seeds = np.random.SeedSequence(2718).spawn(CHUNKS)
    with multiprocessing.Pool(WORKERS) as pool:
        parts = pool.map(run_chunk, [(model, s) for s in seeds], chunksize=1)
    price, error = combine(parts, model)
    print(f"{CHUNKS * PATHS} paths of {STEPS} steps")
    for contract, p, e in zip(BOOK, price, error):
        print(f"{contract.name:22s} {p:8.4f} +- {e:.4f}")


if __name__ == "__main__":
    main()
