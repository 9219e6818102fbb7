"""Nightly reconciliation of card payments with the merchants' master data.

Each acquirer delivers files of payment lines; a pool of workers parses them,
looks up the merchant's terms, computes fees and collects the exceptions.  The
parent merges the partial results and prints the settlement summary.
"""
import hashlib
import multiprocessing as mp
import random
import re
import tempfile
from collections import Counter, defaultdict
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

MERCHANTS = 36000
FILES = 90
LINES = 2600
WORKERS = 2
CENT = Decimal("0.01")
LINE = re.compile(r"(?P<id>M\d{7});(?P<card>\d{6}\*{6}\d{4});(?P<amount>\d+\.\d\d);(?P<currency>[A-Z]{3});(?P<mac>[0-9a-f]{8})$")
COUNTRIES = ("CH", "DE", "FR", "IT", "AT", "NL", "ES", "PL")
CURRENCIES = ("EUR", "CHF", "GBP")


def load_merchants(seed):
    rng = random.Random(seed)
    merchants = {}
    for i in range(MERCHANTS):
        merchants[f"M{i * 211 % 9999991:07d}"] = {
            "name": f"Merchant {i}",
            "country": rng.choice(COUNTRIES),
            "rate": f"0.0{rng.randint(60, 240):03d}",
            "minimum": f"0.{rng.randint(5, 25):02d}",
            "currency": rng.choice(CURRENCIES),
            "active": rng.random() > 0.01,
        }
    return merchants


def mac(merchant, card, amount):
    return hashlib.sha256(f"{merchant}|{card}|{amount}|k7".encode()).hexdigest()[:8]


def deliver_files(folder, merchants, seed):
    rng = random.Random(seed)
    ids = list(merchants)
    paths = []
    for f in range(FILES):
        lines = []
        for _ in range(LINES):
            merchant = rng.choice(ids) if rng.random() > 0.003 else f"M{rng.randrange(10 ** 7):07d}"
            card = f"{rng.randrange(400000, 600000)}******{rng.randrange(10000):04d}"
            amount = f"{rng.lognormvariate(3.2, 1.0):.2f}"
            terms = merchants.get(merchant)
            currency = terms["currency"] if terms and rng.random() > 0.02 else rng.choice(CURRENCIES)
            seal = mac(merchant, card, amount) if rng.random() > 0.002 else "00000000"
            lines.append(f"{merchant};{card};{amount};{currency};{seal}\n")
        path = folder / f"acquirer_{f:03d}.txt"
        path.write_text("".join(lines))
        paths.append(path)
    return paths


def start_worker(master):
    global merchants
    merchants = master


def reconcile(path):
    """Returns the totals per country and currency and the exceptions of one file."""
    totals = defaultdict(lambda: [0, Decimal(0), Decimal(0)])
    exceptions = Counter()
    with open(path) as lines:
        for line in lines:
            m = LINE.match(line)
            if m is None:
                exceptions["malformed"] += 1
                continue
            merchant, card, amount, currency, seal = m.groups()
            if mac(merchant, card, amount) != seal:
                exceptions["seal"] += 1
                continue
            terms = merchants.get(merchant)
            if terms is None:
                exceptions["unknown merchant"] += 1
            elif not terms["active"]:
                exceptions["inactive merchant"] += 1
            elif terms["currency"] != currency:
                exceptions["currency"] += 1
            else:
                gross = Decimal(amount)
                fee = max((gross * Decimal(terms["rate"])).quantize(CENT, ROUND_HALF_EVEN), Decimal(terms["minimum"]))
                entry = totals[terms["country"], currency]
                entry[0] += 1
                entry[1] += gross
                entry[2] += fee
    return dict(totals), exceptions


def merge(parts):
    totals = defaultdict(lambda: [0, Decimal(0), Decimal(0)])
    exceptions = Counter()
    for part, found in parts:
        exceptions.update(found)
        for key, (count, gross, fee) in part.items():
            entry = totals[key]
            entry[0] += count
            entry[1] += gross
            entry[2] += fee
    return totals, exceptions


def run(paths, merchants):
    with mp.Pool(WORKERS, start_worker, (merchants,)) as pool:
        parts = pool.map(reconcile, paths, chunksize=1)
    return merge(parts)


def main():
    merchants = load_merchants(seed=3)
    with tempfile.TemporaryDirectory() as folder:
        paths = deliver_files(Path(folder), merchants, seed=9)
        totals, exceptions = run(paths, merchants)
    accepted = sum(count for count, _, _ in totals.values())
    print(f"lines {FILES * LINES}  accepted {accepted}  " + "  ".join(f"{k} {v}" for k, v in sorted(exceptions.items())))
    for currency in CURRENCIES:
        gross = sum(entry[1] for key, entry in totals.items() if key[1] == currency)
        fees = sum(entry[2] for key, entry in totals.items() if key[1] == currency)
        print(f"{currency}: gross {gross}  fees {fees}")


if __name__ == "__main__":
    main()
