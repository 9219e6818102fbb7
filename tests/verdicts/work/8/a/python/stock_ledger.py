"""Rebuilds the stock ledger of the warehouses from the scanner event files.

The event files (JSON lines, gzip) are parsed by worker processes, each file is
reduced to movements, and the parent loads them into SQLite and makes the report.
"""
import gzip
import json
import multiprocessing
import os
import random
import sqlite3
import tempfile
from collections import defaultdict

SITES = ["HAM", "MUC", "ROT", "ANT"]
SKUS = 2500
FILES = 20
EVENTS = 28000


def write_events(path, number):
    """Stands in for the scanners: one file per site and shift."""
    rng = random.Random(number)
    site = SITES[number % len(SITES)]
    kinds = ["receive", "pick", "pick", "pick", "move", "count"]
    encode = json.JSONEncoder(separators=(",", ":")).encode
    lines = []
    for i in range(EVENTS):
        kind = kinds[rng.randrange(6)]
        event = {"ts": number * 100000 + i, "site": site, "kind": kind,
                 "sku": f"S{int(rng.random() ** 2 * SKUS):05d}",
                 "bin": f"{rng.randrange(20):02d}-{rng.randrange(40):02d}",
                 "qty": rng.randrange(20, 60) if kind == "receive" else rng.randrange(1, 12)}
        if kind == "move":
            event["to"] = f"{rng.randrange(20):02d}-{rng.randrange(40):02d}"
        lines.append(encode(event))
    with gzip.open(path, "wt", compresslevel=1) as out:
        out.write("\n".join(lines))


def reduce_file(path):
    """Net movement per (site, sku, bin), and the number of events by kind."""
    net = defaultdict(int)
    kinds = defaultdict(int)
    with gzip.open(path, "rt") as lines:
        for line in lines:
            e = json.loads(line)
            kind = e["kind"]
            kinds[kind] += 1
            key = e["site"], e["sku"], e["bin"]
            if kind == "receive":
                net[key] += e["qty"]
            elif kind == "pick":
                net[key] -= e["qty"]
            elif kind == "move":
                net[key] -= e["qty"]
                net[e["site"], e["sku"], e["to"]] += e["qty"]
    rows = [(site, sku, place, qty) for (site, sku, place), qty in net.items() if qty]
    return rows, dict(kinds)


SCHEMA = """
CREATE TABLE stock (
    site TEXT NOT NULL, sku TEXT NOT NULL, bin TEXT NOT NULL, qty INTEGER NOT NULL,
    PRIMARY KEY (site, sku, bin)
) WITHOUT ROWID;
"""

UPSERT = """
INSERT INTO stock VALUES (?, ?, ?, ?)
ON CONFLICT (site, sku, bin) DO UPDATE SET qty = qty + excluded.qty
"""

REPORT = """
SELECT site, count(DISTINCT sku), count(*), sum(qty), sum(qty < 0)
FROM stock GROUP BY site ORDER BY site
"""

SHORTAGES = """
SELECT sku, sum(qty) AS total FROM stock GROUP BY sku
HAVING total < 0 ORDER BY total, sku LIMIT 5
"""


def rebuild(database, paths):
    totals = defaultdict(int)
    connection = sqlite3.connect(database)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.executescript(SCHEMA)
        with multiprocessing.Pool(2) as pool:
            for rows, kinds in pool.imap(reduce_file, paths):
                rows.sort()
                with connection:
                    connection.executemany(UPSERT, rows)
                for kind, n in kinds.items():
                    totals[kind] += n
        return connection, totals
    except BaseException:
        connection.close()
        raise


def main():
    with tempfile.TemporaryDirectory(prefix="ledger_") as folder:
        jobs = [(os.path.join(folder, f"scan_{i:02d}.jsonl.gz"), i) for i in range(FILES)]
        with multiprocessing.Pool(2) as pool:
            pool.starmap(write_events, jobs)
        connection, totals = rebuild(os.path.join(folder, "ledger.db"),
                                     [path for path, _ in jobs])
        try:
            print("events", dict(sorted(totals.items())))
            for site, skus, places, qty, negative in connection.execute(REPORT):
                print(f"{site}: {skus} SKUs in {places} bins, {qty} pieces, {negative} negative")
            for sku, total in connection.execute(SHORTAGES):
                print(f"short: {sku} {total}")
        finally:
            connection.close()


if __name__ == "__main__":
    main()
