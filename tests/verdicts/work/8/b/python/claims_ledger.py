"""Loads the text notices of an insurer's claims desk into SQLite and prints the
quarterly development of paid claims per line of business."""
import json
import random
import re
import sqlite3
import sys
import time
from datetime import date, timedelta

NOTICES = 600_000
SEED = 61
CHUNK = 5_000

NOTICE = re.compile(
    r"^(?P<day>\d{4}-\d\d-\d\d) claim (?P<claim>[A-Z]{2}\d{7}) (?P<event>opened|paid|reserved|closed)"
    r"(?: (?P<currency>EUR|USD|GBP) (?P<amount>\d+(?:\.\d\d)?))?(?: note=(?P<note>\{.*\}))?$"
)
RATES = {"EUR": 1.0, "USD": 0.92, "GBP": 1.17}
LINES = {"MO": "motor", "PR": "property", "LI": "liability", "TR": "travel"}

SCHEMA = """
CREATE TABLE claim(
    id TEXT PRIMARY KEY, line TEXT NOT NULL, opened INTEGER NOT NULL, region TEXT) WITHOUT ROWID;
CREATE TABLE entry(
    claim TEXT NOT NULL, day INTEGER NOT NULL, event TEXT NOT NULL, cents INTEGER NOT NULL, handler TEXT);
"""


def write_notices(rng):
    """The feed as it comes from the desk: mostly well formed, in order of days."""
    start = date(2021, 1, 1)
    opened = []
    for i in range(NOTICES):
        day = start + timedelta(days=i * 1095 // NOTICES)
        if not opened or rng.random() < 0.22:
            claim = f"{rng.choice(list(LINES))}{len(opened):07d}"
            opened.append(claim)
            note = json.dumps({"region": rng.choice(["north", "south", "east", "west"]), "channel": rng.choice(["web", "phone"])})
            yield f"{day} claim {claim} opened note={note}"
            continue
        recent = max(0, len(opened) - 60_000)
        claim = opened[rng.randrange(recent, len(opened))]
        roll = rng.random()
        if roll < 0.01:
            yield f"{day} claim {claim} transferred to archive"
        elif roll < 0.62:
            note = json.dumps({"handler": f"h{rng.randrange(60):02d}", "batch": rng.randrange(10_000)})
            yield f"{day} claim {claim} paid {rng.choice(list(RATES))} {rng.lognormvariate(6, 1):.2f} note={note}"
        elif roll < 0.9:
            yield f"{day} claim {claim} reserved EUR {rng.randrange(100, 20_000)}"
        else:
            yield f"{day} claim {claim} closed"


class Loader:
    def __init__(self, db):
        self.db = db
        self.claims = []
        self.entries = []
        self.rejected = 0
        self.loaded = 0

    def add(self, line):
        m = NOTICE.match(line)
        if m is None:
            self.rejected += 1
            return
        day, claim, event, currency, amount, note = m.groups()
        ordinal = date.fromisoformat(day).toordinal()
        detail = json.loads(note) if note else {}
        if event == "opened":
            self.claims.append((claim, LINES[claim[:2]], ordinal, detail.get("region")))
        cents = round(float(amount) * RATES[currency] * 100) if amount else 0
        self.entries.append((claim, ordinal, event, cents, detail.get("handler")))
        if len(self.entries) >= CHUNK:
            self.flush()

    def flush(self):
        self.db.executemany("INSERT INTO claim VALUES(?,?,?,?)", self.claims)
        self.db.executemany("INSERT INTO entry VALUES(?,?,?,?,?)", self.entries)
        self.loaded += len(self.entries)
        self.claims.clear()
        self.entries.clear()


def development(db):
    """Paid cents per line of business and number of quarters since the opening."""
    rows = db.execute(
        """SELECT c.line, (e.day - c.opened) / 91, sum(e.cents), count(*)
           FROM entry e JOIN claim c ON c.id = e.claim
           WHERE e.event = 'paid' GROUP BY 1, 2 ORDER BY 1, 2"""
    )
    table = {}
    for line, quarter, cents, count in rows:
        table.setdefault(line, []).append((quarter, cents, count))
    return table


def busiest_handler(db):
    return db.execute(
        "SELECT handler, count(*), sum(cents) FROM entry WHERE handler IS NOT NULL GROUP BY handler ORDER BY 2 DESC, 1 LIMIT 1"
    ).fetchone()


def open_reserves(db):
    """Last reserve of every claim that has not been closed."""
    return db.execute(
        """SELECT count(*), sum(cents) FROM (
             SELECT claim, cents, max(day) FROM entry
             WHERE event = 'reserved' AND claim NOT IN (SELECT claim FROM entry WHERE event = 'closed')
             GROUP BY claim)"""
    ).fetchone()


def main():
    started = time.perf_counter()
    db = sqlite3.connect(":memory:")
    db.executescript(SCHEMA)
    loader = Loader(db)
    with db:
        for line in write_notices(random.Random(SEED)):
            loader.add(line)
        loader.flush()
    print(f"loaded {loader.loaded} rejected {loader.rejected}")
    for line, cells in development(db).items():
        paid = sum(c[1] for c in cells) / 100
        print(f"{line:10s} quarters {len(cells)} payments {sum(c[2] for c in cells)} paid {paid:.2f}")
    handler, count, cents = busiest_handler(db)
    n, reserve = open_reserves(db)
    print(f"busiest {handler} {count} {cents / 100:.2f}; open claims {n} reserves {reserve / 100:.2f}")
    db.close()
    print(f"{time.perf_counter() - started:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
