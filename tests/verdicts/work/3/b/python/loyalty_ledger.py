"""Loyalty-points ledger: books till receipts against members in sqlite."""
import pathlib
import random
import sqlite3
import tempfile

SCHEMA = """
CREATE TABLE member (id INTEGER PRIMARY KEY, email TEXT NOT NULL, name TEXT, tier TEXT, points INTEGER DEFAULT 0);
CREATE UNIQUE INDEX member_email ON member (email);
CREATE TABLE movement (id INTEGER PRIMARY KEY, member INTEGER REFERENCES member (id), day TEXT, points INTEGER,
                       reason TEXT);
CREATE INDEX movement_member ON movement (member, day);
"""

TIERS = ((0, "basic"), (400, "silver"), (900, "gold"))
DOMAINS = ("mail.example", "post.example", "inbox.example")


def open_store(path):
    db = sqlite3.connect(path)
    db.executescript(SCHEMA)
    return db


def member_email(i, rng):
    name = f"{rng.choice(('Anna', 'Bo', 'Chen', 'Dara', 'Eli', 'Femi'))}.{i:05d}"
    return f"{name}@{rng.choice(DOMAINS)}"


def seed_members(db, count, rng):
    rows = [(member_email(i, rng), f"Member {i}", "basic") for i in range(count)]
    with db:
        db.executemany("INSERT INTO member (email, name, tier) VALUES (?, ?, ?)", rows)
    return [r[0] for r in rows]


def receipts(emails, count, rng):
    """Till operators type addresses in any case; some are unknown."""
    for n in range(count):
        email = rng.choice(emails)
        style = rng.randrange(4)
        if style == 0:
            email = email.upper()
        elif style == 1:
            email = email.lower()
        if rng.random() < 0.02:
            email = "x" + email
        yield {"email": email, "day": f"2025-{1 + n * 12 // count:02d}-{1 + n % 28:02d}",
               "lines": [(rng.randrange(1, 5), rng.randrange(50, 4000)) for _ in range(rng.randrange(1, 9))]}


def find_member(db, email):
    return db.execute("SELECT id, points, tier FROM member WHERE lower(email) = ?", (email.strip().lower(),)).fetchone()


def points_for(receipt, tier):
    cents = sum(n * price for n, price in receipt["lines"])
    factor = {"basic": 1.0, "silver": 1.25, "gold": 1.5}[tier]
    return int(cents / 100 * factor)


def tier_for(points):
    return [name for floor, name in TIERS if points >= floor][-1]


def recent_points(db, member, day):
    row = db.execute("SELECT coalesce(sum(points), 0) FROM movement WHERE member = ? AND day >= ?",
                     (member, day[:5] + "01-01")).fetchone()
    return row[0]


def book(db, receipt):
    found = find_member(db, receipt["email"])
    if found is None:
        return False
    member, balance, tier = found
    earned = points_for(receipt, tier)
    db.execute("INSERT INTO movement (member, day, points, reason) VALUES (?, ?, ?, 'purchase')",
               (member, receipt["day"], earned))
    year = recent_points(db, member, receipt["day"])
    db.execute("UPDATE member SET points = ?, tier = ? WHERE id = ?", (balance + earned, tier_for(year), member))
    return True


def run(db, emails, count, rng, batch=200):
    booked = unknown = 0
    for n, receipt in enumerate(receipts(emails, count, rng), 1):
        if book(db, receipt):
            booked += 1
        else:
            unknown += 1
        if n % batch == 0:
            db.commit()
    db.commit()
    return booked, unknown


def main():
    rng = random.Random(12)
    with tempfile.TemporaryDirectory() as tmp:
        db = open_store(pathlib.Path(tmp) / "ledger.db")
        emails = seed_members(db, 20_000, rng)
        booked, unknown = run(db, emails, 2600, rng)
        total, = db.execute("SELECT sum(points) FROM member").fetchone()
        tiers = db.execute("SELECT tier, count(*) FROM member GROUP BY tier ORDER BY tier").fetchall()
        print(f"booked {booked} unknown {unknown} points {total} tiers {tiers}")
        db.close()


if __name__ == "__main__":
    main()
