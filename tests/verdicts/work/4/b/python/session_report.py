"""Session and funnel report of the web shop: loads one day's access events
into SQLite, cuts them into sessions, and prints conversion per channel."""
import json
import os
import random
import sqlite3
import tempfile
from urllib.parse import parse_qsl, urlsplit

EVENTS = 300_000
VISITORS = 24_000
GAP = 1800
BATCH = 5000
FUNNEL = ("view", "basket", "checkout", "order")

SCHEMA = """
CREATE TABLE event (
    visitor INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    item    INTEGER,
    channel TEXT,
    value   REAL
);
"""

SESSIONS = """
CREATE TABLE session AS
WITH marked AS (
    SELECT rowid AS event, visitor, at, kind, channel, value,
           CASE WHEN at - lag(at) OVER w <= :gap THEN 0 ELSE 1 END AS opens
    FROM event
    WINDOW w AS (PARTITION BY visitor ORDER BY at, rowid)
), numbered AS (
    SELECT *, sum(opens) OVER (PARTITION BY visitor ORDER BY at, event) AS n FROM marked
)
SELECT visitor, n, min(at) AS start, max(at) - min(at) AS length, count(*) AS events,
       max(CASE WHEN opens THEN channel END) AS channel,
       max(kind = 'view') AS view, max(kind = 'basket') AS basket,
       max(kind = 'checkout') AS checkout, max(kind = 'order') AS placed,
       sum(CASE WHEN kind = 'order' THEN value ELSE 0 END) AS revenue
FROM numbered GROUP BY visitor, n
"""


def write_events(path):
    """Access log of one day: JSON lines in order of time."""
    rng = random.Random(2025)
    channels = ("mail", "search", "ads", "direct")
    at = 1_700_000_000.0
    with open(path, "w") as f:
        for _ in range(EVENTS):
            at += rng.expovariate(EVENTS / 86400)
            visitor = int(VISITORS * rng.random() ** 1.5)
            kind = rng.choices(FUNNEL, (80, 12, 5, 3))[0]
            channel = channels[visitor * 7 % 4] if rng.random() < 0.8 else rng.choice(channels)
            item = rng.randrange(3000)
            record = {
                "t": int(at),
                "v": visitor,
                "url": f"https://shop.test/{kind}/{item}?ch={channel}&pos={rng.randrange(20)}",
            }
            if kind == "order":
                record["value"] = round(rng.lognormvariate(3.4, 0.7), 2)
            f.write(json.dumps(record, separators=(",", ":")) + "\n")


def parse(line):
    record = json.loads(line)
    url = urlsplit(record["url"])
    _, kind, item = url.path.split("/")
    query = dict(parse_qsl(url.query))
    return record["v"], record["t"], kind, int(item), query.get("ch"), record.get("value")


def batches(path):
    with open(path) as f:
        rows = []
        for line in f:
            rows.append(parse(line))
            if len(rows) == BATCH:
                yield rows
                rows = []
        if rows:
            yield rows


def load(db, path):
    db.executescript(SCHEMA)
    with db:
        for rows in batches(path):
            db.executemany("INSERT INTO event VALUES (?,?,?,?,?,?)", rows)
    db.execute("CREATE INDEX event_visitor ON event(visitor, at)")
    db.execute("ANALYZE")


def percentile(db, column, share):
    (count,) = db.execute("SELECT count(*) FROM session").fetchone()
    sql = f"SELECT {column} FROM session ORDER BY {column} LIMIT 1 OFFSET ?"
    return db.execute(sql, (int(share * (count - 1)),)).fetchone()[0]


def funnel(db):
    sql = """
        SELECT channel, count(*), sum(view), sum(basket), sum(checkout), sum(placed), sum(revenue)
        FROM session GROUP BY channel ORDER BY channel
    """
    for channel, sessions, *steps, revenue in db.execute(sql):
        rates = " ".join(f"{name} {100 * n / sessions:.1f}%" for name, n in zip(FUNNEL, steps))
        print(f"{channel:7s} {sessions:6d} sessions  {rates}  {revenue:.2f}")


def best_items(db, count):
    """Items with the most orders after a view in the same visit."""
    sql = """
        SELECT item, count(*) AS n, round(sum(value), 2) FROM event
        WHERE kind = 'order' GROUP BY item ORDER BY n DESC, item LIMIT ?
    """
    return db.execute(sql, (count,)).fetchall()


def main():
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "events.jsonl")
        write_events(log)
        db = sqlite3.connect(os.path.join(folder, "report.db"))
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        load(db, log)
        with db:
            db.execute(SESSIONS, {"gap": GAP})
        funnel(db)
        print("best items", best_items(db, 3))
        print(
            f"median length {percentile(db, 'length', 0.5)} s, "
            f"p90 {percentile(db, 'length', 0.9)} s, p90 events {percentile(db, 'events', 0.9)}"
        )
        db.close()


if __name__ == "__main__":
    main()
