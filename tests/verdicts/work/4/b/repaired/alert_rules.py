"""Evaluate alert rules over the collected device log: parses lines, groups
repeated messages, and raises alerts with a cooldown per host."""
import os
import random
import re
import tempfile
from collections import Counter, defaultdict, deque

LINES = 72000

HEADER = re.compile(
    r"(?P<time>\d+) (?P<host>[\w-]+) (?P<unit>[\w.]+)\[(?P<pid>\d+)\]: (?P<level>[A-Z]+) (?P<text>.*)"
)
VOLATILE = re.compile(r"\b(?:0x[0-9a-f]+|\d+)\b")
FIELD = re.compile(r"(\w+)=(\"[^\"]*\"|\S+)")


class Rule:
    def __init__(self, name, pattern, count, within, cooldown=300):
        self.name = name
        self.pattern = re.compile(pattern)
        self.count = count
        self.within = within
        self.cooldown = cooldown
        self.seen = defaultdict(deque)
        self.muted = {}

    def feed(self, host, time, text):
        if not self.pattern.search(text):
            return False
        times = self.seen[host]
        times.append(time)
        while times[0] <= time - self.within:
            times.popleft()
        if len(times) < self.count or self.muted.get(host, 0) > time:
            return False
        self.muted[host] = time + self.cooldown
        times.clear()
        return True


RULES = [
    ("disk", r"\bI/O error\b.*\bsector=", 3, 120),
    ("auth", r"\bauthentication failure\b", 5, 60),
    ("oom", r"\bout of memory\b", 1, 1),
    ("link", r"\blink (?:down|lost)\b", 2, 90),
    ("slow", r"\brequest took \d{4,}ms\b", 8, 120),
]

MESSAGES = [
    ("kernel", "ERROR", "I/O error on sda1 sector={a} op=read"),
    ("sshd", "WARN", 'authentication failure user="{u}" port={a}'),
    ("kernel", "CRIT", "out of memory: killed worker pid={a}"),
    ("netd", "WARN", "port {b} link down after {a}s carrier=0x{a:x}"),
    ("api", "INFO", "request took {a}ms path=/v1/items/{b} status=200"),
    ("api", "INFO", 'health probe ok latency={b} note="within budget"'),
    ("cron", "INFO", "job {b} finished exit=0 elapsed={a}"),
    ("api", "DEBUG", "cache entry 0x{a:x} refreshed size={a} ttl={b}"),
]
WEIGHTS = [2, 4, 1, 2, 30, 30, 16, 15]


def write_log(path):
    """Lines as the collector stores them. The older appliances send a fixed
    column layout, with the fields of a message set apart by runs of blanks."""
    rng = random.Random(66)
    time = 1700000000
    with open(path, "w") as f:
        for _ in range(LINES):
            time += rng.random() < 0.12
            unit, level, form = rng.choices(MESSAGES, WEIGHTS)[0]
            host = rng.randrange(24)
            text = form.format(a=rng.randrange(9000), b=rng.randrange(64), u=f"user{rng.randrange(20)}")
            if host < 8:
                head, _, tail = text.partition(" ")
                text = head + " " + " " * (220 - len(head)) + tail.ljust(120)
            f.write(f"{time} edge-{host:02d} {unit}[{rng.randrange(300, 9999)}]: {level} {text}\n")


def normalize(text):
    return " ".join(text.split())


def parse(line):
    match = HEADER.match(line)
    if not match:
        return None
    text = normalize(match["text"])
    return int(match["time"]), match["host"], match["unit"], match["level"], text


class Report:
    def __init__(self):
        self.rules = [Rule(*r) for r in RULES]
        self.shapes = Counter()
        self.levels = Counter()
        self.alerts = Counter()
        self.elapsed = defaultdict(list)
        self.bad = 0

    def feed(self, line):
        entry = parse(line)
        if entry is None:
            self.bad += 1
            return
        time, host, unit, level, text = entry
        self.levels[level] += 1
        self.shapes[unit, VOLATILE.sub("#", text)] += 1
        fields = dict(FIELD.findall(text))
        if "elapsed" in fields:
            self.elapsed[host].append(int(fields["elapsed"]))
        for rule in self.rules:
            if rule.feed(host, time, text):
                self.alerts[rule.name, host] += 1

    def print(self):
        print("levels", " ".join(f"{k}={v}" for k, v in sorted(self.levels.items())))
        by_rule = Counter()
        for (name, _), n in self.alerts.items():
            by_rule[name] += n
        print("alerts", " ".join(f"{k}={v}" for k, v in sorted(by_rule.items())))
        worst = max(self.elapsed, key=lambda h: (sum(self.elapsed[h]) / len(self.elapsed[h]), h))
        print(f"{len(self.shapes)} message shapes, slowest jobs on {worst}, {self.bad} bad lines")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "devices.log")
        write_log(path)
        report = Report()
        with open(path) as f:
            for line in f:
                report.feed(line)
    report.print()


if __name__ == "__main__":
    main()
