"""Nightly contact sync: rows from a partner export are matched to the contact
table by e-mail address, merged, and a change journal is written."""
import hashlib
import random
import sqlite3

FIRST = ["Ada", "Bo", "Cy", "Dee", "Eli", "Fay", "Gus", "Hal", "Ida", "Jo"]
LAST = ["Ames", "Bolt", "Cole", "Dunn", "East", "Frost", "Gray", "Hunt", "Irwin", "Jones"]
CITIES = ["Bern", "Lyon", "Graz", "Turin", "Ulm", "Ghent"]

SCHEMA = """
CREATE TABLE contact (
    id INTEGER PRIMARY KEY,
    email TEXT NOT NULL,
    name TEXT NOT NULL,
    city TEXT,
    score INTEGER NOT NULL DEFAULT 0,
    updated INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX contact_email ON contact(email);
CREATE INDEX contact_email_lower ON contact(lower(email));
CREATE TABLE journal (
    id INTEGER PRIMARY KEY,
    contact INTEGER NOT NULL REFERENCES contact(id),
    field TEXT NOT NULL,
    before TEXT,
    after TEXT
);
CREATE INDEX journal_contact ON journal(contact);
"""


def mixed_case(rng, text):
    return text.title() if rng.random() < 0.4 else text


def make_person(rng, number):
    first, last = rng.choice(FIRST), rng.choice(LAST)
    email = f"{first}.{last}.{number}@mail{number % 7}.example".lower()
    return email, f"{first} {last}", rng.choice(CITIES)


def open_database():
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row
    db.executescript(SCHEMA)
    return db


def load_contacts(db, count, seed):
    rng = random.Random(seed)
    rows = []
    for number in range(count):
        email, name, city = make_person(random.Random(number * 7919), number)
        rows.append((mixed_case(rng, email), name, city, rng.randint(0, 50)))
    with db:
        db.executemany("INSERT INTO contact(email, name, city, score) VALUES (?, ?, ?, ?)", rows)


def partner_export(count, known, seed):
    rng = random.Random(seed)
    for _ in range(count):
        number = rng.randrange(known + known // 10)
        email, name, city = make_person(random.Random(number * 7919), number)
        if rng.random() < 0.3:
            city = rng.choice(CITIES)
        yield {"email": email, "name": name, "city": city, "points": rng.randint(1, 9)}


def find_contact(db, email):
    return db.execute("SELECT id, email, name, city, score FROM contact WHERE lower(email) = ?",
                      (email.lower(),)).fetchone()


def add_contact(db, row, now):
    cursor = db.execute("INSERT INTO contact(email, name, city, score, updated) VALUES (?, ?, ?, ?, ?)",
                        (row["email"], row["name"], row["city"], row["points"], now))
    return cursor.lastrowid


def merge(db, contact, row, now):
    changes = [(contact["id"], field, contact[field], row[field])
               for field in ("name", "city") if contact[field] != row[field]]
    db.executemany("INSERT INTO journal(contact, field, before, after) VALUES (?, ?, ?, ?)", changes)
    db.execute("UPDATE contact SET name = ?, city = ?, score = score + ?, updated = ? WHERE id = ?",
               (row["name"], row["city"], row["points"], now, contact["id"]))
    return len(changes)


def sync(db, export):
    stats = {"added": 0, "merged": 0, "changes": 0}
    with db:
        for now, row in enumerate(export):
            contact = find_contact(db, row["email"])
            if contact is None:
                add_contact(db, row, now)
                stats["added"] += 1
            else:
                stats["changes"] += merge(db, contact, row, now)
                stats["merged"] += 1
    return stats


def summary(db):
    digest = hashlib.sha256()
    for row in db.execute("SELECT id, email, city, score, updated FROM contact ORDER BY id"):
        digest.update(repr(tuple(row)).encode())
    for row in db.execute("SELECT contact, field, after FROM journal ORDER BY id"):
        digest.update(repr(tuple(row)).encode())
    top = db.execute("SELECT city, count(*) AS n, sum(score) AS s FROM contact GROUP BY city ORDER BY city").fetchall()
    return [tuple(r) for r in top], digest.hexdigest()[:16]


def main():
    db = open_database()
    known = 16000
    load_contacts(db, known, seed=1)
    stats = sync(db, partner_export(2600, known, seed=2))
    cities, digest = summary(db)
    for city, count, score in cities:
        print(f"{city:6s} {count:6d} {score:8d}")
    print(f"added {stats['added']} merged {stats['merged']} changes {stats['changes']} digest {digest}")


if __name__ == "__main__":
    main()
