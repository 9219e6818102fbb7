"""Summarise a web access log: hits, errors and bytes for each route of the API."""
import argparse
import json
import random
import re
import time
from collections import defaultdict

ROUTES = ["/v1/users/{id}", "/v1/users/{id}/orders", "/v1/orders/{id}", "/v1/orders/{id}/items/{id}",
          "/v1/search", "/v1/login", "/v1/logout", "/static/{name}", "/health", "/v1/cart/{id}"]
TENANTS = [f"shop{n:03d}" for n in range(300)]
LINE = re.compile(r'(\S+) \S+ \S+ \[([^\]]+)\] "(\S+) (\S+) [^"]*" (\d{3}) (\d+)')


def make_log(lines, seed):
    rnd = random.Random(seed)
    out = []
    for n in range(lines):
        path = rnd.choice(ROUTES).replace("{name}", rnd.choice(["app.js", "site.css", "logo.png"]))
        while "{id}" in path:
            path = path.replace("{id}", str(rnd.randrange(1, 90000)), 1)
        status = rnd.choices([200, 304, 404, 500], [90, 5, 4, 1])[0]
        out.append(f'10.0.{rnd.randrange(256)}.{rnd.randrange(256)} - - '
                   f'[12/Mar/2026:10:{n // 60 % 60:02d}:{n % 60:02d} +0000] '
                   f'"GET /{rnd.choice(TENANTS)}{path} HTTP/1.1" {status} {rnd.randrange(200, 40000)}')
    return out


def pattern_for(tenant, route):
    body = re.escape(route).replace(r"\{id\}", r"\d+").replace(r"\{name\}", r"[\w.]+")
    return rf"^/{tenant}{body}$"


class Matcher:
    def __init__(self, ready):
        self.seconds = 0.0
        self.ready = {} if ready else None

    def route_of(self, tenant, path):
        start = time.perf_counter()
        found = "other"
        if self.ready is not None:
            if tenant not in self.ready:
                self.ready[tenant] = [(r, re.compile(pattern_for(tenant, r))) for r in ROUTES]
            for route, pattern in self.ready[tenant]:
                if pattern.match(path):
                    found = route
                    break
        else:
            for route in ROUTES:
                if re.compile(pattern_for(tenant, route)).match(path):
                    found = route
                    break
        self.seconds += time.perf_counter() - start
        return found


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--lines", type=int, default=16000)
    args = ap.parse_args()
    log = make_log(args.lines, 5)
    matcher = Matcher(args.repaired)
    hits, errors, sent = defaultdict(int), defaultdict(int), defaultdict(int)
    clients = defaultdict(set)
    begin = time.perf_counter()
    for line in log:
        m = LINE.match(line)
        if not m:
            continue
        client, when, verb, path, status, size = m.groups()
        route = matcher.route_of(path.split("/")[1], path)
        hits[route] += 1
        sent[route] += int(size)
        clients[route].add(client)
        if status >= "400":
            errors[route] += 1
    total = time.perf_counter() - begin
    print(f"{'route':32}{'hits':>8}{'errors':>8}{'clients':>9}{'MB':>8}")
    for route in sorted(hits, key=hits.get, reverse=True):
        print(f"{route:32}{hits[route]:8}{errors[route]:8}{len(clients[route]):9}{sent[route] / 1e6:8.1f}")
    print("TRUTH", json.dumps({"share": round(matcher.seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
