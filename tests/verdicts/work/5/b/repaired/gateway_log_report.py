"""Abuse report over the key=value log of an API gateway.

Writes a day of synthetic traffic, reads it back line by line, sets aside the
malformed lines and prints who misbehaves and which endpoints are slow.
"""
import random
import re
import statistics
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

LINES = 150_000
CLIENTS = 400
ENDPOINTS = ["/v1/search", "/v1/items", "/v1/cart", "/v1/login", "/v2/reports", "/v2/export"]
PARAMS = ["page", "sort", "lang", "ref", "limit", "color"]
AGENTS = ["Mozilla/5.0 (X11; Linux)", "okhttp/4.9", "python-requests/2.31", "curl/8.5"]

LINE = re.compile(r'^\s*(?:\w+=(?:"[^"]*"|[^\s"]*)(?:\s+|$))*$')
PAIR = re.compile(r'(\w+)=("[^"]*"|\S*)')


def make_line(i, rng):
    client = int(CLIENTS * rng.random() ** 2)
    endpoint = rng.choice(ENDPOINTS)
    query = "&".join(f"{rng.choice(PARAMS)}={rng.randrange(100)}"
                     for _ in range(rng.randrange(7)))
    bot = client % 37 == 0
    status = rng.choices([200, 304, 401, 404, 500], [80, 6, 30 if bot else 2, 5, 1])[0]
    latency = rng.lognormvariate(3.0 if endpoint.startswith("/v1") else 4.2, 0.6)
    line = (f"ts={1700000000 + i * 86400 // LINES} client=10.{client // 256}.{client % 256}.7 "
            f"method={'POST' if endpoint.endswith('login') else 'GET'} "
            f"url={endpoint}{'?' + query if query else ''} status={status} "
            f"bytes={rng.randrange(200, 40000)} ms={latency:.1f} "
            f'agent="{AGENTS[3] if bot else rng.choice(AGENTS)}" trace={rng.getrandbits(48):012x}')
    if rng.random() < 0.006:  # the shipper cuts lines when its buffer is full
        line = line[:line.index('agent="') + 12]
    return line


def write_log(path):
    rng = random.Random(42)
    with path.open("w") as out:
        for i in range(LINES):
            out.write(make_line(i, rng))
            out.write("\n")


def parse(line):
    """Fields of a line, or None where it is malformed."""
    if not LINE.match(line):
        return None
    return {key: value.strip('"') for key, value in PAIR.findall(line)}


class Report:
    def __init__(self):
        self.malformed = 0
        self.requests = Counter()
        self.denied = Counter()
        self.agents = defaultdict(Counter)
        self.latency = defaultdict(list)
        self.bytes_by_hour = Counter()
        self.params = Counter()

    def add(self, line):
        fields = parse(line)
        if fields is None:
            self.malformed += 1
            return
        client = fields["client"]
        path, _, query = fields["url"].partition("?")
        self.requests[client] += 1
        if fields["status"] in ("401", "403"):
            self.denied[client] += 1
        self.agents[client][fields["agent"]] += 1
        self.latency[path].append(float(fields["ms"]))
        self.bytes_by_hour[int(fields["ts"]) // 3600 % 24] += int(fields["bytes"])
        for pair in query.split("&"):
            if pair:
                self.params[pair.partition("=")[0]] += 1

    def suspects(self, least=100, share=0.15):
        found = []
        for client, n in self.requests.items():
            if n >= least and self.denied[client] / n > share:
                agent = self.agents[client].most_common(1)[0][0]
                found.append((self.denied[client], n, client, agent))
        return sorted(found, reverse=True)

    def print(self):
        total = sum(self.requests.values())
        print(f"{total} requests of {len(self.requests)} clients, {self.malformed} malformed lines")
        for denied, n, client, agent in self.suspects()[:8]:
            print(f"  suspect {client:14s} {denied:5d} of {n:5d} denied  ({agent})")
        for path in sorted(self.latency):
            values = self.latency[path]
            cuts = statistics.quantiles(values, n=100)
            print(f"  {path:12s} {len(values):6d}  p50 {cuts[49]:6.1f} ms  p99 {cuts[98]:6.1f} ms")
        hour, volume = self.bytes_by_hour.most_common(1)[0]
        print(f"  busiest hour {hour:02d}:00 with {volume / 1e6:.1f} MB; "
              f"commonest parameter {self.params.most_common(1)[0][0]}")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        log = Path(tmp) / "gateway.log"
        write_log(log)
        report = Report()
        with log.open() as lines:
            for line in lines:
                report.add(line.rstrip("\n"))
        report.print()


if __name__ == "__main__":
    main()
