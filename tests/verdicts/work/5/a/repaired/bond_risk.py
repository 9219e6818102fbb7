"""Overnight risk run: values a book of bonds under every rate scenario.

The scenarios are spread over worker processes; each task values the whole
book under one shifted curve, and the parent collects losses and percentiles.
"""
import math
import multiprocessing
import random
from bisect import bisect_right
from dataclasses import dataclass

SCENARIOS = 200
BOOK_SIZE = 9000
VALUED_PER_SCENARIO = 1500
WORKERS = 2


@dataclass(frozen=True)
class Bond:
    identifier: str
    issuer: str
    sector: str
    coupon: float
    years: float
    spread: float
    nominal: float


class Market:
    """Zero curve at the pillars, log-linear between them."""

    def __init__(self, pillars, rates):
        self.pillars = pillars
        self.rates = rates

    def shifted(self, level, slope):
        return Market(self.pillars, [r + level + slope * (t - 10) / 10 for t, r in zip(self.pillars, self.rates)])

    def discount(self, t, spread):
        i = bisect_right(self.pillars, t)
        if i == 0:
            rate = self.rates[0]
        elif i == len(self.pillars):
            rate = self.rates[-1]
        else:
            t0, t1 = self.pillars[i - 1], self.pillars[i]
            w = (t - t0) / (t1 - t0)
            rate = self.rates[i - 1] * (1 - w) + self.rates[i] * w
        return math.exp(-(rate + spread) * t)


def make_book(rng):
    sectors = ["sovereign", "bank", "utility", "telecom", "industry"]
    base = {"sovereign": 0.002, "bank": 0.011, "utility": 0.008, "telecom": 0.013, "industry": 0.015}
    book = []
    for n in range(BOOK_SIZE):
        sector = rng.choice(sectors)
        book.append(Bond(
            identifier=f"XS{rng.randrange(10**9):09d}{n % 10}",
            issuer=f"Issuer {rng.randrange(700):03d} {sector.title()} Finance B.V.",
            sector=sector,
            coupon=round(rng.uniform(0.5, 6.5), 3) / 100,
            years=round(rng.uniform(0.3, 15), 2),
            spread=base[sector] * rng.uniform(0.5, 2),
            nominal=rng.randrange(1, 50) * 100_000.0,
        ))
    return book


def bond_value(bond, market):
    t = bond.years
    value = market.discount(t, bond.spread)
    while t > 0:
        value += bond.coupon * market.discount(t, bond.spread)
        t -= 1.0
    return value * bond.nominal


def choose_positions(number, count):
    """Stratified subset of the book that a scenario revalues in full."""
    stride = max(1, count // VALUED_PER_SCENARIO)
    return range(number % stride, count, stride)


def start_worker(book, market):
    global _book, _market
    _book, _market = book, market


def run_scenario(task):
    number, level, slope = task
    book, market = _book, _market
    stressed = market.shifted(level, slope)
    loss = 0.0
    by_sector = {}
    for i in choose_positions(number, len(book)):
        bond = book[i]
        change = bond_value(bond, stressed) - bond_value(bond, market)
        loss -= change
        by_sector[bond.sector] = by_sector.get(bond.sector, 0.0) - change
    worst = max(sorted(by_sector), key=by_sector.get)
    return number, loss, worst


def make_scenarios(rng):
    tasks = []
    for n in range(SCENARIOS):
        level = rng.gauss(0, 0.007)
        tasks.append((n, level, rng.gauss(0, 0.003) - 0.1 * level))
    return tasks


def percentile(ordered, share):
    position = share * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def run(book, market, tasks):
    results = []
    with multiprocessing.get_context("fork").Pool(WORKERS, start_worker, (book, market)) as pool:
        for outcome in pool.imap_unordered(run_scenario, tasks):
            results.append(outcome)
    results.sort()
    return results


def main():
    rng = random.Random(1729)
    book = make_book(rng)
    market = Market([0.25, 0.5, 1, 2, 3, 5, 7, 10, 15], [0.031, 0.030, 0.028, 0.026, 0.0255, 0.026, 0.027, 0.028, 0.029])
    results = run(book, market, make_scenarios(rng))
    losses = sorted(loss for _, loss, _ in results)
    tail = losses[int(0.95 * len(losses)):]
    print(f"{len(results)} scenarios over {len(book)} bonds")
    print(f"VaR95 {percentile(losses, 0.95) / 1e6:.3f}m  VaR99 {percentile(losses, 0.99) / 1e6:.3f}m")
    print(f"expected shortfall {sum(tail) / len(tail) / 1e6:.3f}m  best {-losses[0] / 1e6:.3f}m")
    counts = {}
    for _, _, sector in results:
        counts[sector] = counts.get(sector, 0) + 1
    print("worst sector:", ", ".join(f"{k} {v}" for k, v in sorted(counts.items())))


if __name__ == "__main__":
    main()
