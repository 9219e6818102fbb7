"""Rolls the day's gateway logs up into the reporting database.

Compressed log files are parsed, aggregated per service, route and minute, and
written to SQLite; the report lists latency percentiles, error budgets and
the clients with the most failures.
"""
import gzip
import json
import random
import re
import sqlite3
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

FILES = 12
LINES = 44000
SERVICES = ("auth", "basket", "catalog", "payment", "search", "shipping")
LINE = re.compile(
    r"(?P<hour>\d\d):(?P<minute>\d\d):\d\d\.\d{3} (?P<service>\w+) (?P<method>GET|POST|PUT|DELETE) "
    r"(?P<path>/\S*) (?P<status>\d{3}) (?P<micros>\d+)us client=(?P<client>c\d+)")
NUMBER = re.compile(r"/\d+(?=/|$)")
BUCKETS = 160


def write_logs(folder):
    rng = random.Random(2024)
    routes = {s: [f"/{s}/v1/{name}" for name in ("items", "status", "history", "batch", "export")] for s in SERVICES}
    speed = {s: rng.uniform(6.5, 9.0) for s in SERVICES}
    paths = []
    for f in range(FILES):
        path = folder / f"gateway-{f:02d}.log.gz"
        with gzip.open(path, "wt", compresslevel=1) as log:
            for i in range(LINES):
                if rng.random() < 0.004:
                    log.write("-- upstream keepalive, pool=7\n")
                    continue
                second = f * 7200 + i * 7200 // LINES
                service = rng.choice(SERVICES)
                route = rng.choice(routes[service])
                if rng.random() < 0.6:
                    route += f"/{rng.randrange(100000)}"
                failed = rng.random() < 0.012
                log.write(f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}.{rng.randrange(1000):03d} "
                          f"{service} {rng.choice(('GET', 'GET', 'GET', 'POST', 'PUT'))} {route} "
                          f"{rng.choice((500, 502, 503)) if failed else 200} "
                          f"{int(rng.lognormvariate(speed[service], 0.7))}us client=c{rng.randrange(4000)}\n")
        paths.append(path)
    return paths


def bucket(micros):
    """Log-linear histogram bucket: eight per power of two."""
    if micros < 8:
        return micros
    exponent = micros.bit_length() - 4
    return min(8 * (exponent + 1) + (micros >> exponent) - 8, BUCKETS - 1)


def bucket_start(b):
    return b if b < 8 else (8 + b % 8) << (b // 8 - 1)


def parse(path, minutes, histograms, failures):
    skipped = 0
    with gzip.open(path, "rt") as log:
        for line in log:
            m = LINE.match(line)
            if m is None:
                skipped += 1
                continue
            hour, minute, service, method, target, status, micros, client = m.groups()
            route = method + " " + NUMBER.sub("/:id", target)
            micros = int(micros)
            failed = status >= "500"
            entry = minutes[service, route, int(hour) * 60 + int(minute)]
            entry[0] += 1
            entry[1] += failed
            entry[2] += micros
            histograms[service][bucket(micros)] += 1
            if failed:
                failures[client] += 1
    return skipped


def store(db, minutes, histograms):
    with db:
        db.execute("CREATE TABLE minute(service TEXT, route TEXT, minute INT, requests INT, errors INT, micros INT,"
                   " PRIMARY KEY(service, route, minute)) WITHOUT ROWID")
        db.execute("CREATE TABLE latency(service TEXT PRIMARY KEY, histogram TEXT)")
        db.executemany("INSERT INTO minute VALUES(?,?,?,?,?,?)",
                       sorted((s, r, t, *entry) for (s, r, t), entry in minutes.items()))
        db.executemany("INSERT INTO latency VALUES(?,?)",
                       [(service, json.dumps(counts)) for service, counts in histograms.items()])


def percentile(counts, q):
    rank = q * sum(counts)
    seen = 0
    for b, n in enumerate(counts):
        seen += n
        if seen >= rank:
            return bucket_start(b) / 1000
    return float("inf")


def report(db):
    query = ("SELECT service, sum(requests), sum(errors), count(DISTINCT route), "
             "sum(CASE WHEN errors * 20 > requests THEN 1 ELSE 0 END) FROM minute GROUP BY service ORDER BY service")
    histograms = dict(db.execute("SELECT service, histogram FROM latency"))
    for service, requests, errors, routes, bad in db.execute(query):
        counts = json.loads(histograms[service])
        print(f"{service:9s} requests {requests:7d}  errors {errors:5d}  routes {routes:3d}  bad minutes {bad:5d}  "
              f"p50 {percentile(counts, 0.5):.2f} ms  p99 {percentile(counts, 0.99):.2f} ms")


def main():
    minutes = defaultdict(lambda: [0, 0, 0])
    histograms = {service: [0] * BUCKETS for service in SERVICES}
    failures = Counter()
    with tempfile.TemporaryDirectory() as folder:
        skipped = sum(parse(path, minutes, histograms, failures) for path in write_logs(Path(folder)))
        db = sqlite3.connect(Path(folder) / "report.db")
        store(db, minutes, histograms)
        report(db)
        db.close()
    worst = sorted(failures.items(), key=lambda item: (-item[1], item[0]))[:3]
    print(f"skipped {skipped}  clients with most failures: " + ", ".join(f"{c} ({n})" for c, n in worst))


if __name__ == "__main__":
    main()
