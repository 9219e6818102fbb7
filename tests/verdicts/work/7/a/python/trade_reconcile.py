"""Reconciles the day's trades of the desk with the file of the clearing house.

Exact matches are made by trade reference in SQL; the rest is paired by instrument,
side and quantity within a tolerance for price and time.  Amounts are integer cents.
"""
import csv
import random
import sqlite3
import sys
import tempfile
from bisect import bisect_left
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

FIELDS = ["ref", "isin", "side", "quantity", "price", "time"]
PRICE_TOLERANCE = 3
TIME_TOLERANCE = 90


class Trade(NamedTuple):
    ref: str
    isin: str
    side: str
    quantity: int
    price: int
    time: int


def write_files(folder, n, seed):
    """The desk's blotter and the clearing file, with the usual disagreements."""
    rng = random.Random(seed)
    isins = [f"DE{rng.randrange(10**9):09d}{i % 10}" for i in range(800)]
    base = {isin: rng.randrange(500, 40_000) for isin in isins}
    desk, house = folder / "desk.csv", folder / "house.csv"
    with open(desk, "w", newline="") as fd, open(house, "w", newline="") as fh:
        out_desk, out_house = csv.writer(fd), csv.writer(fh)
        out_desk.writerow(FIELDS)
        out_house.writerow(FIELDS)
        for i in range(n):
            isin = isins[int(rng.random() ** 2 * 800)]
            row = Trade(f"T{i:07d}", isin, rng.choice("BS"), rng.randrange(1, 60) * 10,
                        base[isin] + rng.randrange(-200, 201), rng.randrange(28_800, 61_200))
            out_desk.writerow(row)
            kind = rng.random()
            if kind < 0.86:
                out_house.writerow(row)
            elif kind < 0.93:  # reference lost on the way, time stamp of the gateway
                out_house.writerow(row._replace(ref=f"X{i:07d}", time=row.time + rng.randrange(60)))
            elif kind < 0.97:
                out_house.writerow(row._replace(price=row.price + rng.choice([-5, -1, 1, 5])))
            if rng.random() < 0.01:
                out_house.writerow(row._replace(ref=f"H{i:07d}", quantity=row.quantity + 5))
    return desk, house


def read_trades(path):
    with open(path, newline="") as f:
        rows = csv.reader(f)
        if next(rows) != FIELDS:
            raise ValueError(f"{path}: unexpected header")
        for ref, isin, side, quantity, price, time in rows:
            yield ref, isin, side, int(quantity), int(price), int(time)


def load(db, table, path):
    db.execute(
        f"CREATE TABLE {table} (ref TEXT PRIMARY KEY, isin TEXT, side TEXT, quantity INTEGER,"
        " price INTEGER, time INTEGER) WITHOUT ROWID"
    )
    with db:
        db.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?)", read_trades(path))


def compare_by_reference(db):
    same = "d.isin = h.isin AND d.side = h.side AND d.quantity = h.quantity"
    matched, breaks, cents = db.execute(
        f"SELECT sum({same} AND d.price = h.price), sum(NOT ({same} AND d.price = h.price)),"
        " sum(abs(d.price - h.price) * d.quantity) FROM desk d JOIN house h USING (ref)"
    ).fetchone()
    return matched, breaks, cents


def unmatched(db, table, other):
    return [
        Trade(*row)
        for row in db.execute(
            f"SELECT * FROM {table} t WHERE NOT EXISTS (SELECT 1 FROM {other} o WHERE o.ref = t.ref) ORDER BY time, ref"
        )
    ]


def pair_by_terms(desk, house):
    """Pairs what has the same terms, nearest in time first come first served."""
    candidates = defaultdict(list)
    for trade in house:  # in order of time
        candidates[trade.isin, trade.side, trade.quantity].append(trade)
    pairs, left = [], []
    for trade in desk:
        bucket = candidates.get((trade.isin, trade.side, trade.quantity))
        found = None
        if bucket:
            i = bisect_left(bucket, trade.time - TIME_TOLERANCE, key=lambda t: t.time)
            while i < len(bucket) and bucket[i].time <= trade.time + TIME_TOLERANCE:
                if abs(bucket[i].price - trade.price) <= PRICE_TOLERANCE:
                    found = bucket.pop(i)
                    break
                i += 1
        if found:
            pairs.append((trade, found))
        else:
            left.append(trade)
    return pairs, left, [t for bucket in candidates.values() for t in bucket]


def exposure(trades):
    total = defaultdict(int)
    for t in trades:
        total[t.isin] += t.quantity * t.price * (1 if t.side == "B" else -1)
    return total


def main():
    with tempfile.TemporaryDirectory(prefix="reconcile-") as tmp:
        desk_file, house_file = write_files(Path(tmp), 500_000, seed=8)
        db = sqlite3.connect(":memory:")
        load(db, "desk", desk_file)
        load(db, "house", house_file)
    matched, breaks, cents = compare_by_reference(db)
    pairs, only_desk, only_house = pair_by_terms(unmatched(db, "desk", "house"), unmatched(db, "house", "desk"))
    open_risk = exposure(only_desk)
    worst = max(open_risk, key=lambda k: (abs(open_risk[k]), k))
    print(f"matched {matched}  breaks {breaks} ({cents / 100:.2f})  paired by terms {len(pairs)}")
    print(f"only desk {len(only_desk)}  only house {len(only_house)}  largest open {worst} {open_risk[worst] / 100:.2f}")
    db.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
