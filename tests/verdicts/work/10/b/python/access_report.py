"""Daily access report: parses the combined log, stores hits in SQLite, and
prints slow end points, error bursts and session statistics."""
import os
import random
import re
import sqlite3
import tempfile
from collections import defaultdict
from datetime import datetime, timezone
from typing import Iterator

LINES = 800_000
BATCH = 5_000
SESSION_GAP = 1800

LINE = re.compile(
    r'(?P<ip>\d+\.\d+\.\d+\.\d+) - (?P<user>\S+) \[(?P<ts>\d+)\] '
    r'"(?P<method>[A-Z]+) (?P<path>[^ ?"]+)(?:\?[^ "]*)? HTTP/[\d.]+" '
    r'(?P<status>\d{3}) (?P<size>\d+) "[^"]*" "(?P<agent>[^"]*)" (?P<ms>\d+)$')
NUMERIC = re.compile(r"/\d+(?=/|$)")


def write_log(path: str, seed: int) -> None:
    rng = random.Random(seed)
    pages = ["/", "/login", "/cart", "/search", "/api/items/%d", "/api/items/%d/reviews",
             "/api/users/%d", "/static/app.js", "/export/%d"]
    weights = [10, 3, 6, 14, 30, 12, 10, 12, 1]
    agents = ["Mozilla/5.0 (X11; Linux x86_64)", "okhttp/4.12", "Googlebot/2.1", "curl/8.5"]
    t = 1_700_000_000
    with open(path, "w", buffering=1 << 20) as f:
        for page in rng.choices(pages, weights, k=LINES):
            t += rng.random() < 0.4
            target = page % rng.randrange(5000) if "%d" in page else page
            if page == "/search":
                target += f"?q=word{rng.randrange(900)}&page={rng.randrange(5)}"
            ms = int(rng.expovariate(1 / (900 if page.startswith("/export") else 45)))
            status = 500 if rng.random() < 0.004 else 404 if rng.random() < 0.02 else 200
            user = rng.randrange(4000)
            f.write(f'10.{user >> 8}.{user & 255}.7 - u{user} [{t}] "GET {target} HTTP/1.1" '
                    f'{status} {rng.randrange(200, 40000)} "-" "{agents[user & 3]}" {ms}\n')
            if rng.random() < 0.0005:
                f.write("truncated line ...\n")


class Skipped:
    count = 0


def parse(path: str, skipped: Skipped) -> Iterator[tuple]:
    with open(path) as f:
        for line in f:
            m = LINE.match(line)
            if m is None:
                skipped.count += 1
                continue
            ip, user, ts, method, page, status, size, agent, ms = m.groups()
            yield (int(ts), user, method, NUMERIC.sub("/:id", page), int(status),
                   int(size), int(ms), "bot" in agent.lower())


def load(db: sqlite3.Connection, rows: Iterator[tuple]) -> int:
    db.execute("CREATE TABLE hit(ts INTEGER, user TEXT, method TEXT, route TEXT,"
               " status INTEGER, size INTEGER, ms INTEGER, bot INTEGER)")
    total = 0
    batch: list[tuple] = []
    with db:
        for row in rows:
            batch.append(row)
            if len(batch) == BATCH:
                db.executemany("INSERT INTO hit VALUES(?,?,?,?,?,?,?,?)", batch)
                total += len(batch)
                batch.clear()
        db.executemany("INSERT INTO hit VALUES(?,?,?,?,?,?,?,?)", batch)
        total += len(batch)
    with db:
        db.execute("CREATE INDEX hit_user ON hit(user, ts)")
    return total


def routes(db: sqlite3.Connection) -> list[tuple[str, int, int, float]]:
    samples: dict[str, list[int]] = defaultdict(list)
    errors: dict[str, int] = defaultdict(int)
    for route, status, ms in db.execute("SELECT route, status, ms FROM hit WHERE NOT bot"):
        samples[route].append(ms)
        errors[route] += status >= 500
    out = []
    for route, values in samples.items():
        values.sort()
        out.append((route, len(values), values[int(0.95 * (len(values) - 1))],
                    errors[route] / len(values)))
    return sorted(out, key=lambda r: -r[2])


def error_bursts(db: sqlite3.Connection, limit: int) -> list[tuple[int, int]]:
    return db.execute("SELECT ts / 60 * 60 AS minute, count(*) AS n FROM hit WHERE status >= 500"
                      " GROUP BY minute ORDER BY n DESC, minute LIMIT ?", (limit,)).fetchall()


def sessions(db: sqlite3.Connection) -> tuple[int, float, int]:
    count = longest = length = 0
    last_user, last_ts, total = None, 0, 0
    for user, ts in db.execute("SELECT user, ts FROM hit ORDER BY user, ts"):
        if user != last_user or ts - last_ts > SESSION_GAP:
            count += 1
            length = 0
        length += 1
        total += 1
        longest = max(longest, length)
        last_user, last_ts = user, ts
    return count, total / count, longest


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "access.log")
        write_log(log, seed=17)
        db = sqlite3.connect(os.path.join(folder, "hits.db"))
        skipped = Skipped()
        total = load(db, parse(log, skipped))
        print(f"{total} hits, {skipped.count} lines skipped")
        for route, n, p95, err in routes(db)[:4]:
            print(f"{route:28s} {n:7d} p95 {p95:5d} ms errors {100 * err:.2f}%")
        for minute, n in error_bursts(db, 2):
            print(datetime.fromtimestamp(minute, timezone.utc).isoformat(), n, "errors")
        count, mean, longest = sessions(db)
        print(f"{count} sessions, mean {mean:.2f} hits, longest {longest}")
        db.close()


if __name__ == "__main__":
    main()
