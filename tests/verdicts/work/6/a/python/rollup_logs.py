"""Hourly roll-up of the CDN's access logs: two worker processes parse byte
ranges of the files, count per route and status, keep latency histograms, and
the parent merges them and prints the slowest routes and the noisiest clients."""
import heapq
import multiprocessing as mp
import os
import random
import re
import tempfile
from bisect import bisect_left
from collections import Counter

FILES, LINES, PIECE = 4, 330_000, 4 << 20
LINE = re.compile(
    rb'(?P<ip>\d+\.\d+\.\d+\.\d+) \[(?P<hour>[^:]+:\d\d)[^\]]*\] "(?P<verb>[A-Z]+) (?P<path>[^ ?"]*)[^"]*" '
    rb'(?P<status>\d{3}) (?P<size>\d+) (?P<ms>\d+)')
NUMBER = re.compile(rb"/(?:\d+|[0-9a-f]{8,})(?=/|$)")
EDGES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]


def write_logs(folder):
    rng = random.Random(8)
    routes = ["/v1/items/%d", "/v1/items/%d/media/%08x", "/v1/cart/%d", "/static/app.js", "/static/img/%08x", "/search",
              "/health", "/v2/users/%d/orders/%d"]
    statuses = ["200"] * 90 + ["304"] * 6 + ["404"] * 3 + ["500"]
    paths = []
    for f in range(FILES):
        path = os.path.join(folder, f"access.{f}.log")
        # A day's log repeats itself: a pool of lines with the fields drawn anew.
        pool = []
        for _ in range(4000):
            r = int(len(routes) * rng.random() ** 1.5)
            fill = tuple(rng.randrange(1, 1 << 28) for _ in range(routes[r].count("%")))
            query = "?q=%x&page=%d" % (rng.randrange(1 << 20), rng.randrange(9)) if r == 5 else ""
            pool.append(("10.%d.%d.%d" % (rng.randrange(4), rng.randrange(40), rng.randrange(250)), (routes[r] % fill) + query,
                         rng.choice(statuses), 4.0 + r * 9.0))
        with open(path, "w", encoding="ascii") as out:
            for n in range(LINES):
                ip, target, status, scale = pool[int(4000 * rng.random())]
                ms = int(scale / (0.02 + rng.random()))
                out.write(f'{ip} [12/Mar/2024:{n * 24 // LINES:02d}:{n % 60:02d}:00 +0000] "GET {target} HTTP/1.1" '
                          f'{status} {400 + ms * 13} {ms}\n')
        paths.append(path)
    return paths


def pieces(paths):
    """Byte ranges; a worker handles the lines that begin inside its range."""
    for path in paths:
        size = os.path.getsize(path)
        for at in range(0, size, PIECE):
            yield path, at, min(at + PIECE, size)


class Rollup:
    def __init__(self):
        self.requests = Counter()
        self.clients = Counter()
        self.sizes = Counter()
        self.latency = {}
        self.bad = 0

    def add_lines(self, lines):
        match, requests, clients, sizes, latency = LINE.match, self.requests, self.clients, self.sizes, self.latency
        for line in lines:
            m = match(line)
            if m is None:
                self.bad += 1
                continue
            ip, hour, verb, path, status, size, ms = m.groups()
            route = NUMBER.sub(b"/:id", path)
            requests[hour, verb, route, status] += 1
            clients[ip] += 1
            sizes[route] += int(size)
            hist = latency.get(route)
            if hist is None:
                hist = latency[route] = [0] * (len(EDGES) + 1)
            hist[bisect_left(EDGES, int(ms))] += 1

    def merge(self, other):
        self.requests.update(other.requests)
        self.clients.update(other.clients)
        self.sizes.update(other.sizes)
        self.bad += other.bad
        for route, hist in other.latency.items():
            mine = self.latency.get(route)
            self.latency[route] = hist if mine is None else [a + b for a, b in zip(mine, hist)]


def roll_piece(job):
    path, start, end = job
    with open(path, "rb") as f:
        if start:
            f.seek(start - 1)
            f.readline()
        at = f.tell()
        block = f.read(end - at) if end > at else b""
        if block and not block.endswith(b"\n"):
            block += f.readline()
    roll = Rollup()
    roll.add_lines(block.splitlines())
    return roll


def quantile(hist, q):
    need, seen = q * sum(hist), 0
    for edge, n in zip(EDGES, hist):
        seen += n
        if seen >= need:
            return edge
    return EDGES[-1]


def main():
    with tempfile.TemporaryDirectory() as folder:
        paths = write_logs(folder)
        total = Rollup()
        with mp.get_context("spawn").Pool(2) as pool:
            for part in pool.imap_unordered(roll_piece, pieces(paths)):
                total.merge(part)
    print(f"requests {sum(total.requests.values())}, bad lines {total.bad}, clients {len(total.clients)}")
    errors = sum(n for (_, _, _, status), n in total.requests.items() if status >= b"500")
    print(f"server errors {errors}")
    for route, hist in sorted(total.latency.items(), key=lambda kv: (-quantile(kv[1], 0.95), kv[0])):
        print(f"{route.decode():32} p50 {quantile(hist, 0.5):5} p95 {quantile(hist, 0.95):5} bytes {total.sizes[route]}")
    for ip, n in heapq.nsmallest(3, total.clients.items(), key=lambda kv: (-kv[1], kv[0])):
        print(ip.decode(), n)


if __name__ == "__main__":
    main()
