"""Scans a log for the errors of each host and prints a summary."""
import collections
import random
import re

HOSTS = [f"node-{i:03d}" for i in range(900)]
LEVELS = ("INFO", "WARN", "ERROR", "DEBUG")


def make_lines(count):
    rng = random.Random(3)
    lines = []
    for i in range(count):
        lines.append(f"{i:07d} {rng.choice(HOSTS)} [{rng.choice(LEVELS)}] took={rng.randrange(5000)}us "
                     f"path=/v1/{rng.choice('abcdef')}/{rng.randrange(1000)} user=u{rng.randrange(500)}")
    return lines


def host_of(line):
    return line.split(" ", 2)[1]


def error_time(host, line):
    match = re.search(rf"\b{host}\b \[(?:ERROR|WARN)\] took=(\d+)us path=(/\S+)", line)
    return int(match.group(1)) if match else None


def percentile(values, p):
    values = sorted(values)
    return values[int(p * (len(values) - 1))]


def sleepers(lines):
    """Users that were seen in few lines ('sleepers')."""
    counts = collections.Counter()
    for line in lines:
        user = line[line.rindex("user=") + 5:]
        counts[user] += 1
        counts[user[:2]] += sum(map(ord, line)) % 3
    return [u for u, n in counts.items() if n < 60]


def similarity(lines):
    """Shared words of neighbouring lines."""
    total = 0
    for _ in range(6):
        last = set()
        for line in lines:
            words = set(line.replace("/", " ").replace("=", " ").split())
            total += len(words & last)
            last = words
    return total / len(lines)


def scan(lines):
    times = collections.defaultdict(list)
    for line in lines:
        host = host_of(line)
        t = error_time(host, line)
        if t is not None:
            times[host].append(t)
    return times


def main():
    lines = make_lines(64000)
    times = scan(lines)
    worst = max(times, key=lambda h: percentile(times[h], 0.9))
    print(len(times), "hosts with errors, worst", worst, "quiet users", len(sleepers(lines)),
          f"similarity {similarity(lines):.3f}")


if __name__ == "__main__":
    main()
