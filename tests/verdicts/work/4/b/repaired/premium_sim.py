"""Capital model of the property book: simulates loss years in worker
processes and reports the loss distribution net of reinsurance."""
import bisect
import itertools
import math
import multiprocessing
import random
from typing import NamedTuple

POLICIES = 8000
YEARS = 320
ZONES = 30
RETENTION, LAYER = 400_000.0, 6_000_000.0


class Policy(NamedTuple):
    number: str
    zone: int
    insured: float
    deductible: float
    fire_rate: float
    storm_share: float
    construction: str


class YearResult(NamedTuple):
    year: int
    gross: float
    net: float
    claims: int
    storms: int


def build_portfolio(seed):
    rng = random.Random(seed)
    book = []
    for i in range(POLICIES):
        insured = round(math.exp(rng.gauss(12.4, 0.6)), 2)
        book.append(
            Policy(
                f"HB{i:07d}",
                rng.randrange(ZONES),
                insured,
                rng.choice((250.0, 500.0, 1000.0, 2500.0)),
                rng.uniform(0.002, 0.03),
                rng.uniform(0.05, 0.6),
                rng.choice(("brick", "timber", "concrete", "mixed")),
            )
        )
    return book


def poisson(rng, mean):
    """Exponential gaps; the means here are small or only needed once a year."""
    n, t = 0, rng.expovariate(1.0)
    while t < mean:
        n += 1
        t += rng.expovariate(1.0)
    return n


def attritional(portfolio, rng):
    """Fire losses: the policy is drawn in proportion to its frequency."""
    weights = list(itertools.accumulate(p.fire_rate for p in portfolio))
    gross, claims = 0.0, 0
    for _ in range(poisson(rng, weights[-1])):
        policy = portfolio[bisect.bisect_left(weights, rng.random() * weights[-1])]
        damage = min(1.0, rng.paretovariate(1.3) * 0.01)
        if policy.construction == "timber":
            damage = min(1.0, damage * 1.6)
        loss = policy.insured * damage - policy.deductible
        if loss > 0:
            gross += loss
            claims += 1
    return gross, claims


def storm(portfolio, rng):
    """One storm hits a run of neighbouring zones with falling strength."""
    centre = rng.randrange(ZONES)
    strength = min(0.2, rng.paretovariate(2.2) * 0.01)
    gross, claims = 0.0, 0
    for policy in portfolio:
        away = abs(policy.zone - centre)
        if away > 2:
            continue
        loss = policy.insured * strength * policy.storm_share / (1 + away) - policy.deductible
        if loss > 0:
            gross += loss
            claims += 1
    return gross, claims


def recover(event):
    """Excess-of-loss treaty per storm."""
    return min(max(event - RETENTION, 0.0), LAYER)


portfolio = None


def use_portfolio(book):
    global portfolio
    portfolio = book


def simulate_year(year):
    rng = random.Random(f"year {year}")
    gross, claims = attritional(portfolio, rng)
    net = gross
    storms = poisson(rng, 1.8)
    for _ in range(storms):
        event, hit = storm(portfolio, rng)
        gross += event
        net += event - recover(event)
        claims += hit
    return YearResult(year, gross, net, claims, storms)


def run_years(book, years):
    with multiprocessing.Pool(2, use_portfolio, (book,)) as pool:
        return list(pool.imap(simulate_year, range(years)))


def tail(values, level):
    """Value at risk, and the mean beyond it."""
    ordered = sorted(values)
    cut = int(math.ceil(level * len(ordered))) - 1
    beyond = ordered[cut:]
    return ordered[cut], math.fsum(beyond) / len(beyond)


def main():
    portfolio = build_portfolio(91)
    insured = math.fsum(p.insured for p in portfolio)
    print(f"{len(portfolio)} policies, {insured / 1e6:.1f} M insured")
    results = run_years(portfolio, YEARS)
    for name in ("gross", "net"):
        values = [getattr(r, name) for r in results]
        var, tvar = tail(values, 0.95)
        mean = math.fsum(values) / len(values)
        print(f"{name}: mean {mean / 1e6:.3f} M, VaR95 {var / 1e6:.3f} M, TVaR95 {tvar / 1e6:.3f} M")
    claims = sum(r.claims for r in results)
    print(f"{YEARS} years, {claims} claims, {sum(r.storms for r in results)} storms")


if __name__ == "__main__":
    main()
