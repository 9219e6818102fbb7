"""Scores insurance claims against a tariff table in a pool of processes and
totals the expected payout per region and product."""
import math
import multiprocessing as mp
import random
from collections import defaultdict
from dataclasses import dataclass

REGIONS = 40
PRODUCTS = 30
AGE_BANDS = 12
CLAIMS = 144000
CHUNK = 400
WORKERS = 2


@dataclass(frozen=True)
class Claim:
    number: int
    region: int
    product: int
    age: int
    amount: float
    history: tuple


def build_tariff(rng):
    """Factors by region, product and age band, as loaded from the rating system."""
    tariff = {}
    for region in range(REGIONS):
        for product in range(PRODUCTS):
            for band in range(AGE_BANDS):
                tariff[f"{region:02d}/{product:02d}/{band:02d}"] = {
                    "base": rng.uniform(0.2, 0.9),
                    "excess": float(rng.randrange(50, 600, 50)),
                    "cap": float(rng.randrange(5000, 60000, 500)),
                    "trend": rng.uniform(-0.02, 0.05),
                }
    return tariff


def make_claims(rng):
    claims = []
    for number in range(CLAIMS):
        history = tuple(rng.lognormvariate(6.5, 1.0) for _ in range(rng.randrange(0, 14)))
        claims.append(
            Claim(
                number,
                rng.randrange(REGIONS),
                rng.randrange(PRODUCTS),
                rng.randrange(18, 90),
                rng.lognormvariate(7.5, 1.1),
                history,
            )
        )
    return claims


def severity(claim, factors):
    """Expected payout: capped amount, trended, with a credibility-weighted history."""
    net = min(max(claim.amount - factors["excess"], 0.0), factors["cap"])
    trended = net * math.exp(factors["trend"] * (claim.age - 18) / 10)
    if not claim.history:
        return trended * factors["base"]
    logs = [math.log(v) for v in claim.history]
    mean = math.fsum(logs) / len(logs)
    var = math.fsum((x - mean) ** 2 for x in logs) / len(logs)
    weight = len(logs) / (len(logs) + 5.0)
    own = math.exp(mean + var / 2)
    return factors["base"] * ((1 - weight) * trended + weight * min(own, factors["cap"]))


def tail_probability(claim, expected, steps=40):
    """Chance that the final cost exceeds twice the expectation (numeric integral)."""
    sigma = 0.5 + 0.04 * len(claim.history)
    start = math.log(2.0) / sigma + sigma / 2
    width = 8.0 / steps
    total = 0.0
    for i in range(steps):
        z = start + (i + 0.5) * width
        total += math.exp(-0.5 * z * z)
    return total * width / math.sqrt(2 * math.pi) if expected > 0 else 0.0


TARIFF = {}


def score_chunk(claims):
    tariff = TARIFF
    rows = []
    for claim in claims:
        band = min((claim.age - 18) // 6, AGE_BANDS - 1)
        factors = tariff[f"{claim.region:02d}/{claim.product:02d}/{band:02d}"]
        expected = severity(claim, factors)
        rows.append((claim.region, claim.product, expected, tail_probability(claim, expected)))
    return rows


def chunks(items, size):
    for i in range(0, len(items), size):
        yield items[i : i + size]


def main():
    rng = random.Random(2718)
    tariff = build_tariff(rng)
    TARIFF.update(tariff)
    claims = make_claims(rng)
    by_region = defaultdict(float)
    by_product = defaultdict(float)
    tail = 0.0
    scored = 0
    with mp.get_context("fork").Pool(WORKERS) as pool:
        for rows in pool.imap(score_chunk, chunks(claims, CHUNK)):
            for region, product, expected, chance in rows:
                by_region[region] += expected
                by_product[product] += expected
                tail += chance
                scored += 1

    print(f"claims {scored} tariff rows {len(tariff)}")
    print(f"expected payout {sum(by_region.values()):.2f} mean tail {tail / scored:.6f}")
    for name, table in (("region", by_region), ("product", by_product)):
        worst = sorted(table, key=table.get, reverse=True)[:3]
        print(name, ", ".join(f"{k}: {table[k]:.2f}" for k in worst))


if __name__ == "__main__":
    main()
