"""Portfolio exposure report: simulates positions in a process pool."""
import functools
import math
import multiprocessing as mp
import random

INSTRUMENTS = 14_000
POSITIONS = 220


def build_reference(seed):
    """Reference data: per instrument a sector, currency and factor loads."""
    rng = random.Random(seed)
    sectors = ("energy", "retail", "banks", "health", "tech", "mining")
    table = {}
    for i in range(INSTRUMENTS):
        table[f"XS{i:08d}"] = {
            "sector": rng.choice(sectors),
            "ccy": rng.choice(("EUR", "USD", "GBP")),
            "beta": [rng.gauss(1, 0.2) for _ in range(4)],
            "vol": 0.1 + rng.random() * 0.4,
        }
    return table


def build_positions(seed):
    rng = random.Random(seed)
    books = []
    for n in range(POSITIONS):
        legs = [(f"XS{rng.randrange(INSTRUMENTS):08d}", rng.uniform(-50, 100)) for _ in range(60)]
        books.append({"id": n, "legs": legs, "seed": rng.randrange(1 << 30)})
    return books


def factor_paths(rng, steps):
    for _ in range(steps):
        yield [rng.gauss(0, 0.01) for _ in range(4)]


def simulate(reference, position, steps=360):
    """Worst simulated loss of one position, and its sector weights."""
    rng = random.Random(position["seed"])
    legs = [(reference[name], amount) for name, amount in position["legs"]]
    worst = value = 0.0
    for shock in factor_paths(rng, steps):
        for ref, amount in legs:
            common = sum(b * s for b, s in zip(ref["beta"], shock))
            value += amount * (common + ref["vol"] * 0.02 * math.sin(value + amount))
        worst = min(worst, value)
    weights = {}
    for ref, amount in legs:
        weights[ref["sector"]] = weights.get(ref["sector"], 0.0) + abs(amount)
    return position["id"], worst, weights


def set_reference(reference):
    global simulate_one
    simulate_one = functools.partial(simulate, reference)


def run_one(position):
    return simulate_one(position)


def run_pool(reference, positions, workers):
    results = []
    with mp.get_context("fork").Pool(workers, set_reference, (reference,)) as pool:
        for result in pool.imap(run_one, positions):
            results.append(result)
    return results


def summarise(results):
    totals = {}
    for _, _, weights in results:
        for sector, w in weights.items():
            totals[sector] = totals.get(sector, 0.0) + w
    losses = sorted(worst for _, worst, _ in results)
    tail = losses[:max(1, len(losses) // 20)]
    return totals, sum(tail) / len(tail)


def concentration(totals):
    whole = sum(totals.values())
    return sum((w / whole) ** 2 for w in totals.values())


def main():
    reference = build_reference(1)
    positions = build_positions(2)
    totals, tail = summarise(run_pool(reference, positions, workers=2))
    top = max(totals, key=totals.get)
    print(f"positions {len(positions)} tail loss {tail:.4f} top {top} concentration {concentration(totals):.5f}")


if __name__ == "__main__":
    main()
