"""Reconciles card settlements of an acquirer with the shop's own payments.

Both sides are loaded into SQLite; exact matches are made by reference, the
rest by amount and date within a window, worst cases end in a report.
"""
import collections
import datetime
import json
import os
import random
import sqlite3
import tempfile

PAYMENTS = 330_000
START = datetime.date(2024, 1, 1)
CURRENCIES = ["EUR", "USD", "GBP", "CHF"]

SCHEMA = """
CREATE TABLE payment(id INTEGER PRIMARY KEY, reference TEXT NOT NULL, day INTEGER NOT NULL,
    currency TEXT NOT NULL, cents INTEGER NOT NULL, settled INTEGER);
CREATE TABLE settlement(id INTEGER PRIMARY KEY, reference TEXT, day INTEGER NOT NULL,
    currency TEXT NOT NULL, cents INTEGER NOT NULL, fee INTEGER NOT NULL, payment INTEGER);
"""
INDEXES = """
CREATE INDEX payment_reference ON payment(reference);
CREATE INDEX payment_open ON payment(currency, cents, day) WHERE settled IS NULL;
CREATE INDEX settlement_open ON settlement(day) WHERE payment IS NULL;
"""


def synthesise(rng):
    for i in range(PAYMENTS):
        day = rng.randrange(90)
        yield (i + 1, f"P{i * 7919 % 999_983:06d}-{rng.randrange(1296):03x}", day,
               rng.choice(CURRENCIES), rng.randint(99, 60_000))


def write_acquirer_file(path, payments, rng):
    """JSON lines, as the acquirer delivers them: some lost, garbled or late."""
    with open(path, "w", encoding="ascii") as f:
        for number, reference, day, currency, cents in payments:
            r = rng.random()
            if r < 0.01:
                continue
            if r < 0.05:
                reference = None
            elif r < 0.08:
                reference = reference[:-2] + "??"
            if r > 0.995:
                cents -= 1
            record = {"ref": reference, "day": day + rng.choice([0, 1, 1, 2, 3]), "cur": currency,
                      "cents": cents, "fee": 10 + cents // 80, "terminal": f"T{number % 977}"}
            f.write(json.dumps(record) + "\n")


def load(db, payments, path):
    db.executescript(SCHEMA)
    with db:
        db.executemany("INSERT INTO payment(id,reference,day,currency,cents) VALUES(?,?,?,?,?)", payments)
        with open(path, encoding="ascii") as f:
            rows = (json.loads(line) for line in f)
            db.executemany("INSERT INTO settlement(reference,day,currency,cents,fee) VALUES(?,?,?,?,?)",
                           ((r["ref"], r["day"], r["cur"], r["cents"], r["fee"]) for r in rows))
    db.executescript(INDEXES)


def match_exact(db):
    pairs = db.execute(
        "SELECT s.id, p.id FROM settlement s JOIN payment p ON p.reference = s.reference"
        " WHERE p.cents = s.cents AND p.currency = s.currency").fetchall()
    record(db, pairs)
    return len(pairs)


def record(db, pairs):
    with db:
        db.executemany("UPDATE settlement SET payment = ?2 WHERE id = ?1", pairs)
        db.executemany("UPDATE payment SET settled = ?1 WHERE id = ?2", pairs)


def match_window(db, window=4):
    """Settlements without a usable reference: nearest open payment of that amount."""
    taken, pairs = set(), []
    rows = db.execute("SELECT id, day, currency, cents FROM settlement WHERE payment IS NULL ORDER BY day, id")
    for number, day, currency, cents in rows.fetchall():
        candidates = db.execute(
            "SELECT id, day FROM payment WHERE settled IS NULL AND currency = ? AND cents = ?"
            " AND day BETWEEN ? AND ? ORDER BY day DESC", (currency, cents, day - window, day))
        for payment, _ in candidates:
            if payment not in taken:
                taken.add(payment)
                pairs.append((number, payment))
                break
    record(db, pairs)
    return len(pairs)


def report(db):
    daily = collections.defaultdict(lambda: [0, 0, 0])
    rows = db.execute("SELECT day, currency, cents, fee, payment IS NULL FROM settlement")
    for day, currency, cents, fee, unmatched in rows:
        week = (START + datetime.timedelta(days=day)).isocalendar().week
        entry = daily[week, currency]
        entry[0] += cents - fee
        entry[1] += fee
        entry[2] += unmatched
    (missing,) = db.execute("SELECT count(*) FROM payment WHERE settled IS NULL").fetchone()
    worst = max(sorted(daily), key=lambda k: daily[k][2])
    return missing, worst, daily


def main():
    rng = random.Random(2024)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "acquirer.jsonl")
        payments = list(synthesise(rng))
        write_acquirer_file(path, payments, rng)
        db = sqlite3.connect(":memory:")
        load(db, payments, path)
        exact, near = match_exact(db), match_window(db)
        missing, worst, daily = report(db)
        net = sum(v[0] for v in daily.values())
        print(f"exact {exact}, by amount {near}, payments still open {missing}")
        print(f"net {net / 100:.2f}, fees {sum(v[1] for v in daily.values()) / 100:.2f}, "
              f"most unmatched in week {worst[0]} {worst[1]}: {daily[worst][2]}")
        db.close()


if __name__ == "__main__":
    main()
