"""Prices freight offers against the tariff of a carrier, on all processes of a pool,
and summarises the margins per lane."""
import functools
import math
import multiprocessing
import random
import sys
import time

ZONES = 90
BREAKS = (50, 100, 250, 500, 1000, 2500, 5000)
OFFERS = 260
LINES = 420
PROCESSES = 2
SEED = 8


def build_tariff(rng):
    """Rates per lane (zone to zone) and weight break, plus surcharges per zone."""
    place = [(rng.random() * 1200, rng.random() * 900) for _ in range(ZONES)]
    rates = {}
    for a in range(ZONES):
        for b in range(ZONES):
            km = math.dist(place[a], place[b]) + 20
            base = 0.9 + km * rng.uniform(0.010, 0.014)
            rates[f"Z{a:02d}", f"Z{b:02d}"] = {
                "km": round(km, 1),
                "rates": [round(base * (1 - 0.09 * i), 4) for i in range(len(BREAKS))],
                "minimum": round(18 + km * 0.03, 2),
                "days": 1 + int(km // 450),
            }
    surcharge = {f"Z{z:02d}": round(rng.choice([0, 0, 0, 4.5, 9.0, 14.0]), 2) for z in range(ZONES)}
    return {"rates": rates, "surcharge": surcharge, "fuel": 0.118, "volume_weight": 333.0}


def build_offers(rng):
    offers = []
    for number in range(OFFERS):
        lines = []
        for _ in range(LINES):
            a, b = rng.randrange(ZONES), rng.randrange(ZONES)
            lines.append((f"Z{a:02d}", f"Z{b:02d}", round(rng.lognormvariate(5.0, 1.0), 1), round(rng.lognormvariate(-0.9, 0.7), 3)))
        offers.append({"number": number, "discount": rng.choice([0.0, 0.03, 0.05, 0.08]), "lines": lines})
    return offers


def line_price(tariff, origin, target, kilos, volume):
    lane = tariff["rates"][origin, target]
    billed = max(kilos, volume * tariff["volume_weight"])
    best = math.inf
    for i, limit in enumerate(BREAKS):
        if billed <= limit:
            best = min(best, billed / 100 * lane["rates"][i] * 10)
        else:
            continue
        if i + 1 < len(BREAKS):  # it may be cheaper to declare the next break
            best = min(best, limit / 100 * lane["rates"][i + 1] * 10)
        break
    else:
        best = billed / 100 * lane["rates"][-1] * 9.5
    price = max(best, lane["minimum"]) * (1 + tariff["fuel"])
    return price + tariff["surcharge"][origin] + tariff["surcharge"][target]


def line_cost(lane_km, kilos, volume, samples=12):
    """Expected cost of a shared truck, averaged over how full it leaves."""
    total = 0.0
    for k in range(samples):
        fill = 0.45 + 0.5 * (k + 0.5) / samples
        share = max(kilos / 24_000, volume / 86) / fill
        total += share * lane_km * 1.42 + 11.0 * math.sqrt(share)
    return total / samples + 9.0


def price_offer(tariff, offer):
    revenue = cost = 0.0
    slow = 0
    by_origin = {}
    for origin, target, kilos, volume in offer["lines"]:
        price = line_price(tariff, origin, target, kilos, volume) * (1 - offer["discount"])
        lane = tariff["rates"][origin, target]
        spent = line_cost(lane["km"], kilos, volume)
        revenue += price
        cost += spent
        slow += lane["days"] > 2
        by_origin[origin] = by_origin.get(origin, 0.0) + price - spent
    return {"number": offer["number"], "revenue": revenue, "cost": cost, "slow": slow, "by_origin": by_origin}


def summarise(results):
    margin = {}
    revenue = cost = 0.0
    slow = 0
    for r in results:
        revenue += r["revenue"]
        cost += r["cost"]
        slow += r["slow"]
        for origin, value in r["by_origin"].items():
            margin[origin] = margin.get(origin, 0.0) + value
    best = max(margin, key=margin.get)
    return revenue, cost, slow, best, margin[best]


def main():
    rng = random.Random(SEED)
    tariff = build_tariff(rng)
    offers = build_offers(rng)
    started = time.perf_counter()
    with multiprocessing.Pool(PROCESSES) as pool:
        results = list(pool.imap(functools.partial(price_offer, tariff), offers))
    revenue, cost, slow, best, margin = summarise(results)
    print(f"offers {len(results)} revenue {revenue:.2f} cost {cost:.2f} slow lines {slow} best origin {best} {margin:.2f}")
    print(f"priced in {time.perf_counter() - started:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
